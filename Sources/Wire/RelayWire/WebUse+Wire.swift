import FamilyCore
import FamilyModel
import Foundation

private func wire(_ sites: [Site: UInt32]) -> [PBWebDay.Time] {
  sites.sorted { $0.key < $1.key }.map { site, time in
    .with {
      $0.site = site.name
      $0.seconds = time
    }
  }
}

/// The times of sites.
///
/// - Throws: `tooLarge`, or `malformed` for a repeated site or a time above a day.
private func times(_ wire: [PBWebDay.Time], limit: Int) throws(Problem) -> [Site: UInt32] {
  guard wire.count <= limit else { throw .tooLarge }
  var times: [Site: UInt32] = [:]
  for time in wire {
    let site = try Wire.require(Site(time.site))
    guard times.updateValue(try seconds(time.seconds), forKey: site) == nil else {
      throw .malformed
    }
  }
  return times
}

private func seconds(_ seconds: UInt32) throws(Problem) -> UInt32 {
  guard seconds <= WebDay.longest else { throw .malformed }
  return seconds
}

extension WebDay {
  var wire: PBWebDay {
    .with {
      $0.day = day.wire
      $0.seconds = seconds
      $0.sites = RelayWire.wire(sites)
      $0.shortened = isShortened
    }
  }

  init(_ wire: PBWebDay) throws(Problem) {
    self.init(
      try Account.Day(wire.day), seconds: try RelayWire.seconds(wire.seconds),
      sites: try times(wire.sites, limit: Limits.webUseSites), isShortened: wire.shortened)
  }
}

extension WebUse {
  var wire: PBWebUse {
    .with {
      $0.days = days.map(\.wire)
      $0.deletion = deletion
    }
  }

  init(_ wire: PBWebUse) throws(Problem) {
    self.init(
      try Wire.map(wire.days, limit: Limits.webUseDaysInReport) { day throws(Problem) in
        try WebDay(day)
      }, deletion: wire.deletion)
  }
}

extension ShownPages {
  func wire(_ number: UInt64) -> PBShownPages {
    .with {
      $0.number = number
      $0.seconds = seconds
      $0.sites = RelayWire.wire(sites)
    }
  }

  init(_ wire: PBShownPages) throws(Problem) {
    self.init(
      seconds: try RelayWire.seconds(wire.seconds),
      sites: try times(wire.sites, limit: Limits.sitesInMessage))
  }
}

extension WebHistoryPart {
  func wire(_ number: UInt64) -> PBWebDeletion {
    .with {
      $0.number = number
      switch self {
      case .all: $0.all = PBEmpty()
      case .site(let site): $0.site = site.name
      case .days(let first, let last):
        $0.days = .with {
          $0.from = first.milliseconds
          $0.through = last.milliseconds
        }
      }
    }
  }

  init(_ wire: PBWebDeletion) throws(Problem) {
    switch wire.part {
    case .all: self = .all
    case .site(let name): self = .site(try Wire.require(Site(name)))
    case .days(let days):
      self = .days(from: try Wire.time(days.from), through: try Wire.time(days.through))
    case nil: throw .malformed
    }
  }
}

extension ReportedWebDay {
  var wire: PBReportedWebDay {
    .with {
      $0.day = day.wire
      $0.stamp = Data(stamp.bytes)
      $0.deletion = deletion
    }
  }

  init(_ wire: PBReportedWebDay) throws(Problem) {
    self.init(
      try WebDay(wire.day), stamp: try Wire.id(wire.stamp), deletion: wire.deletion)
  }
}
