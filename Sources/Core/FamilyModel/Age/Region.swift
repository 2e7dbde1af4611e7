/// What the law of a person's region says about age (D2, D12).
///
/// From `regions.csv`, which names its sources. A subdivision that is not in it is as its country; a
/// country that is not in it has majority 18 and asks nothing of apps.
public struct Region: Hashable, Sendable {
  /// The age of majority, in completed years. Nothing above it is ever revealed.
  public var majority: Int32
  /// What apps have to do here; empty in most regions.
  public var features: RegulatoryFeatures

  /// Whether sharing an age range cannot be declined here (D12).
  public var mustShare: Bool { features.contains(.declaredAgeRangeRequired) }

  /// The region of this code: ISO 3166-1 alpha-2 or ISO 3166-2, for example `FR` or `US-TX`.
  public init(_ code: String) {
    let country = String(code.prefix { $0 != "-" })
    self = Self.table[code] ?? Self.table[country] ?? Region(majority: 18, features: [])
  }

  init(majority: Int32, features: RegulatoryFeatures) {
    self.majority = majority
    self.features = features
  }

  /// The codes of the table, ascending.
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

/// What the law of a region asks of an app (D12).
public struct RegulatoryFeatures: OptionSet, Hashable, Sendable {
  /// The bits.
  public var rawValue: UInt32
  /// The features of these bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }
  /// The app has to ask for the declared age range; sharing cannot be declined.
  public static let declaredAgeRangeRequired = RegulatoryFeatures(rawValue: 1)
  /// A guardian has to agree to significant changes of the app.
  public static let significantAppChangeRequiresParentalConsent = RegulatoryFeatures(rawValue: 2)
  /// An adult has to be told of significant changes of the app.
  public static let significantAppChangeRequiresAdultNotification = RegulatoryFeatures(rawValue: 4)
}
