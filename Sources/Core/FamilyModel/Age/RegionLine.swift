/// The days on which a duty applies, and the accounts to which the duty applies.
///
/// Text form: `2027-01-01`, `2026-01-01..2026-07-01`, `2026-06-04@2026-06-04`.
public struct LegalPeriod: Hashable, Sendable {
  /// The first day.
  public var from: Account.Day
  /// The first day without the duty; `nil`: no end is known.
  public var until: Account.Day?
  /// The duty covers accounts made on this day or later; `nil`: all accounts.
  public var accountsFrom: Account.Day?

  /// Creates a period.
  public init(from: Account.Day, until: Account.Day? = nil, accountsFrom: Account.Day? = nil) {
    self.from = from
    self.until = until
    self.accountsFrom = accountsFrom
  }

  /// Parses one period; `nil` unless the text has the form of ``text``, and ends after its start.
  public init?(_ text: Substring) {
    let scoped = text.split(separator: "@", omittingEmptySubsequences: false)
    guard scoped.count <= 2 else { return nil }
    var days = String(scoped[0])
    var until: Account.Day?
    if let dots = days.firstRange(of: "..") {
      guard let end = Account.Day(iso: String(days[dots.upperBound...])) else { return nil }
      until = end
      days = String(days[..<dots.lowerBound])
    }
    guard let from = Account.Day(iso: days), until.map({ $0 > from }) ?? true else { return nil }
    var accountsFrom: Account.Day?
    if scoped.count == 2 {
      guard let day = Account.Day(iso: String(scoped[1])) else { return nil }
      accountsFrom = day
    }
    self.init(from: from, until: until, accountsFrom: accountsFrom)
  }

  /// The text form.
  public var text: String {
    from.iso + (until.map { "..\($0.iso)" } ?? "") + (accountsFrom.map { "@\($0.iso)" } ?? "")
  }

  /// Whether the period covers an account made on `made` on the day `today`.
  public func covers(accountMade made: Account.Day, on today: Account.Day) -> Bool {
    from <= today && until.map { today < $0 } ?? true && accountsFrom.map { made >= $0 } ?? true
  }
}

/// A line of the table of regions: what is known about the law of one region.
///
/// An empty value of a subdivision takes the value of its country. Periods of the country count in
/// its subdivisions, too.
public struct RegionLine: Hashable, Sendable {
  /// How well the sources support the line.
  public enum Confidence: String, Hashable, Sendable, CaseIterable {
    /// The text of the statute, or several sources that agree.
    case high
    /// One good secondary source.
    case medium
    /// Weak or contradicting sources; the higher age counts.
    case low
  }

  /// ISO 3166-1 alpha-2 or ISO 3166-2, for example `FR` or `US-TX`.
  public var code = ""
  /// Further codes of the same region.
  public var aliases: [String] = []
  /// The age of majority; `nil`: that of the country.
  public var majority: Int32?
  /// The day from which the age of majority applies; `nil`: always.
  public var majorityFrom: Account.Day?
  /// The age of majority before that day.
  public var majorityBefore: Int32?
  /// The statute that sets the age of majority.
  public var majorityStatute = ""
  /// The act behind the duties.
  public var act = ""
  /// The age below which the act protects a person.
  public var minorBelow: Int32?
  /// When age features apply.
  public var eligible: [LegalPeriod] = []
  /// When the age range is required.
  public var ageRange: [LegalPeriod] = []
  /// When a significant change needs a guardian's consent.
  public var parentalConsent: [LegalPeriod] = []
  /// When a significant change needs an adult notification.
  public var adultNotice: [LegalPeriod] = []
  /// The gates of the act.
  public var gates: [Int32] = []
  /// How well the sources support the line.
  public var confidence = Confidence.low
  /// The sources.
  public var source = ""

  /// All periods of the line.
  var periods: [LegalPeriod] { eligible + ageRange + parentalConsent + adultNotice }
}
