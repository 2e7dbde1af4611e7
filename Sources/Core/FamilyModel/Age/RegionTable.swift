/// The law of all regions concerning age, as data.
///
/// The built-in table is `regions.csv`, which cites its sources. No lawyer has checked it. An
/// operator may replace it with a file of the same form.
public struct RegionTable: Hashable, Sendable {
  /// The age of majority of a region without a line.
  public static let defaultMajority: Int32 = 18
  /// The age below which an act protects a person, unless its line has another age.
  public static let defaultMinor: Int32 = 18

  /// A line of a table that cannot be used.
  public struct Mistake: Error, Hashable, Sendable, CustomStringConvertible {
    /// The number of the line in the file, from 1.
    public var line: Int
    /// The reason, in English.
    public var reason: String
    /// The line and the reason: `line 3: …`.
    public var description: String { "line \(line): \(reason)" }

    init(_ line: Int, _ reason: String) {
      self.line = line
      self.reason = reason
    }
  }

  /// The table that is built in.
  public static let standard: RegionTable = {
    do { return try RegionTable(csv: PackageResources.regions_csv) } catch {
      preconditionFailure("regions.csv: \(error)")
    }
  }()

  /// The lines, ascending by code.
  public let lines: [RegionLine]
  private let index: [String: Int]

  /// Creates a table.
  ///
  /// Precondition: no two lines share a code or an alias.
  init(_ lines: [RegionLine]) {
    let sorted = lines.sorted { $0.code < $1.code }
    self.lines = sorted
    index = Dictionary(
      uniqueKeysWithValues: sorted.enumerated().flatMap { number, line in
        ([line.code] + line.aliases).map { ($0, number) }
      })
  }

  /// The line of exactly this code, or of the region with this alias.
  public func line(_ code: String) -> RegionLine? { index[code].map { lines[$0] } }

  /// The line of the code and that of its country, the more specific first. An alias is resolved
  /// before the country is looked up, so that `US-PR` is `PR`.
  private func lines(for code: String) -> [RegionLine] {
    let own = line(code)
    let country = String((own?.code ?? code).prefix { $0 != "-" })
    return [own, own?.code == country ? nil : line(country)].compactMap { $0 }
  }

  /// The requirements for an account made on `made`, on the day `today`.
  ///
  /// A region without a line takes those of its country, and a country without a line the defaults:
  /// majority at 18, and no requirement.
  public func region(_ code: String, accountMade made: Account.Day, on today: Account.Day)
    -> Region
  {
    let lines = lines(for: code)
    func applies(_ periods: KeyPath<RegionLine, [LegalPeriod]>) -> Bool {
      lines.contains { $0[keyPath: periods].contains { $0.covers(accountMade: made, on: today) } }
    }
    var features: RegulatoryFeatures = []
    if applies(\.ageRange) { features.insert(.declaredAgeRangeRequired) }
    if applies(\.parentalConsent) { features.insert(.significantAppChangeRequiresParentalConsent) }
    if applies(\.adultNotice) { features.insert(.significantAppChangeRequiresAdultNotification) }
    var region = Region(
      isEligible: !features.isEmpty || applies(\.eligible), features: features)
    for line in lines.reversed() {
      region.minorBelow = line.minorBelow ?? region.minorBelow
      guard let majority = line.majority else { continue }
      let isInForce = line.majorityFrom.map { $0 <= today } ?? true
      region.majority = isInForce ? majority : line.majorityBefore ?? majority
    }
    if region.mustShare { region.gates = lines.first { !$0.gates.isEmpty }?.gates ?? [] }
    return region
  }

  /// The first day after `today` on which the requirements for the account change; `nil` if none is
  /// known.
  public func nextChange(
    of code: String, accountMade made: Account.Day, after today: Account.Day
  ) -> Account.Day? {
    let now = region(code, accountMade: made, on: today)
    return days(of: code)
      .first { $0 > today && region(code, accountMade: made, on: $0) != now }
  }

  /// The days on which requirements of the region change for some accounts, ascending.
  public func days(of code: String) -> [Account.Day] {
    let days = lines(for: code).flatMap { line in
      line.periods.flatMap { [$0.from, $0.until] } + [line.majorityFrom]
    }
    return Set(days.compactMap { $0 }).sorted()
  }
}
