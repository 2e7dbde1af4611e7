/// The legal requirements of a region concerning age.
///
/// The table is `regions.csv`, which cites its sources. An unlisted subdivision takes the values of
/// its country. An unlisted country has majority at 18 and no requirements.
public struct Region: Hashable, Sendable {
  /// The age of majority in completed years. No age above it is revealed.
  public var majority: Int32
  /// The duties of apps in the region; empty in most regions.
  public var features: RegulatoryFeatures

  /// Whether the person must share the age range.
  public var mustShare: Bool { features.contains(.declaredAgeRangeRequired) }

  /// The region with this code: ISO 3166-1 alpha-2 or ISO 3166-2, for example `FR` or `US-TX`.
  public init(_ code: String) {
    let country = String(code.prefix { $0 != "-" })
    self = Self.table[code] ?? Self.table[country] ?? Region(majority: 18, features: [])
  }

  init(majority: Int32, features: RegulatoryFeatures) {
    self.majority = majority
    self.features = features
  }

  /// The codes in the table, ascending.
  public static var codes: [String] { table.map(\.key).sorted() }

  private static let table: [String: Region] = {
    var table: [String: Region] = [:]
    for line in String(decoding: PackageResources.regions_csv, as: UTF8.self).split(separator: "\n")
    where !line.hasPrefix("#") {
      let fields = line.split(separator: ",", omittingEmptySubsequences: false)
      guard fields.count == 3, let majority = Int32(fields[1]) else { continue }
      var features: RegulatoryFeatures = []
      if fields[2].contains("r") { features.insert(.declaredAgeRangeRequired) }
      if fields[2].contains("c") { features.insert(.significantAppChangeRequiresParentalConsent) }
      if fields[2].contains("n") { features.insert(.significantAppChangeRequiresAdultNotification) }
      table[String(fields[0])] = Region(majority: majority, features: features)
    }
    return table
  }()
}

/// The legal duties of an app in a region.
public struct RegulatoryFeatures: OptionSet, Hashable, Sendable {
  /// The bits.
  public var rawValue: UInt32
  /// Creates a set from its bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }
  /// The app must request the declared age range, and the person must share it.
  public static let declaredAgeRangeRequired = RegulatoryFeatures(rawValue: 1)
  /// A guardian must approve significant updates of the app.
  public static let significantAppChangeRequiresParentalConsent = RegulatoryFeatures(rawValue: 2)
  /// An adult must be notified of significant updates of the app.
  public static let significantAppChangeRequiresAdultNotification = RegulatoryFeatures(rawValue: 4)
}
