/// The legal requirements of a region concerning age, as they apply to one person on one day.
///
/// ``RegionTable`` computes the requirements from the region, the day of the account and the day.
public struct Region: Hashable, Sendable {
  /// The age of majority in completed years. No age above it is revealed.
  public var majority: Int32
  /// The age below which the acts of the region protect a person. The acts may differ from the
  /// age of majority.
  public var minorBelow: Int32
  /// Whether age features apply to the person, with or without a duty of apps.
  public var isEligible: Bool
  /// The duties of apps; empty in most regions.
  public var features: RegulatoryFeatures
  /// The gates that replace those of an app while sharing is required; otherwise empty.
  public var gates: [Int32]

  /// Creates the requirements; by default those of a region without a line in the table.
  public init(
    majority: Int32 = RegionTable.defaultMajority, minorBelow: Int32 = RegionTable.defaultMinor,
    isEligible: Bool = false, features: RegulatoryFeatures = [], gates: [Int32] = []
  ) {
    self.majority = majority
    self.minorBelow = minorBelow
    self.isEligible = isEligible
    self.features = features
    self.gates = gates
  }

  /// Whether the person must share the age range.
  public var mustShare: Bool { features.contains(.declaredAgeRangeRequired) }

  /// The gates of a request in this region: the region's own while sharing is required, otherwise
  /// those of the app. No gate is above the age of majority.
  public func gates(for requested: [Int32]) -> [Int32] {
    AgeGates.clamped(gates.isEmpty ? requested : gates, majority: majority)
  }
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
