import FamilyModel

extension SiteAccess {
  var wire: PBSiteAccess {
    .with {
      $0.site = site.name
      $0.access = UInt32(access.rawValue)
      if let until { $0.until = until.milliseconds }
    }
  }

  init(_ wire: PBSiteAccess) throws(Problem) {
    self.init(
      try Wire.require(Site(wire.site)),
      try Wire.require(UInt8(exactly: wire.access).flatMap(WebAccess.init)),
      until: wire.hasUntil ? try Wire.time(wire.until) : nil)
  }
}
