/// The use of the web on one calendar day.
///
/// Sites that are shown at once count once in ``seconds``, and each for itself. Sites above
/// ``Limits/webUseSites`` count in ``seconds`` only.
public struct WebDay: Hashable, Sendable {
  /// The day, in the person's time zone.
  public var day: Account.Day
  /// The seconds in which a page was shown.
  public var seconds: UInt32
  /// The seconds of each site; empty where guardians read no sites.
  public var sites: [Site: UInt32]
  /// Whether an app has deleted a part of the day.
  public var isShortened: Bool

  /// Creates the use of a day.
  public init(
    _ day: Account.Day, seconds: UInt32 = 0, sites: [Site: UInt32] = [:], isShortened: Bool = false
  ) {
    (self.day, self.seconds, self.sites, self.isShortened) = (day, seconds, sites, isShortened)
  }

  /// The seconds of a day, which no time exceeds.
  public static let longest: UInt32 = 86_400

  /// The sum of two times, at most ``longest``.
  public static func sum(_ one: UInt32, _ other: UInt32) -> UInt32 {
    min(min(one, longest) + min(other, longest), longest)
  }

  /// Adds another use of the same day.
  public mutating func add(_ other: WebDay) {
    seconds = Self.sum(seconds, other.seconds)
    for (site, time) in other.sites { add(time, to: site) }
    isShortened = isShortened || other.isShortened
  }

  /// Adds seconds to a site. Above ``Limits/webUseSites`` a new site is left out.
  public mutating func add(_ time: UInt32, to site: Site) {
    sites.add(time, to: site, limit: Limits.webUseSites)
  }

  /// The sites, the one with the longest time first.
  public var longestSites: [(site: Site, seconds: UInt32)] {
    sites.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { ($0.key, $0.value) }
  }
}

/// A device's report of some days. Each day replaces the device's earlier report of the day.
public struct WebUse: Hashable, Sendable {
  /// The days, at most ``Limits/webUseDaysInReport``.
  public var days: [WebDay]
  /// The position of the newest deletion that the days reflect; zero: none.
  ///
  /// Readers take a report that does not reflect a deletion as an empty one: the device reports again when
  /// it learns of the deletion.
  public var deletion: UInt64

  /// Creates a report.
  public init(_ days: [WebDay], deletion: UInt64 = 0) {
    (self.days, self.deletion) = (days, deletion)
  }
}

/// The time for which an app has shown pages since its last message.
public struct ShownPages: Hashable, Sendable {
  /// The seconds in which a page was shown.
  public var seconds: UInt32
  /// The seconds of each site, at most ``Limits/sitesInMessage``.
  public var sites: [Site: UInt32]

  /// Creates a time.
  public init(seconds: UInt32 = 0, sites: [Site: UInt32] = [:]) {
    (self.seconds, self.sites) = (seconds, sites)
  }

  /// Adds another time. Above ``Limits/sitesInMessage`` a new site is left out.
  public mutating func add(_ other: ShownPages) {
    seconds = WebDay.sum(seconds, other.seconds)
    for (site, time) in other.sites { sites.add(time, to: site, limit: Limits.sitesInMessage) }
  }
}

/// The part of an app's history that the app deletes.
public enum WebHistoryPart: Hashable, Sendable {
  /// Everything that the app has reported.
  case all
  /// All reports about a site.
  case site(Site)
  /// All reports about the days from that of the first moment to that of the last one.
  case days(from: Instant, through: Instant)
}

extension [Site: UInt32] {
  /// Adds seconds to a site. At the limit a new site is left out.
  fileprivate mutating func add(_ time: UInt32, to site: Site, limit: Int) {
    guard self[site] != nil || count < limit else { return }
    self[site] = WebDay.sum(self[site] ?? 0, time)
  }
}
