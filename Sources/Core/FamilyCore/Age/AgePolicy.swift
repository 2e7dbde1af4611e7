public import FamilyModel

/// Decides the age answer that an app receives.
///
/// The policy rounds an answer by the gates that the app already knows, never by the birthdate, so
/// an omission reveals nothing. Equal facts always lead to equal answers.
public struct AgePolicy: Sendable {
  /// The decision on an age request.
  public enum Decision: Hashable, Sendable {
    /// Reply without a prompt: the range of an earlier answer, or `nil` to decline.
    case reply(AgeRange?)
    /// Share without a prompt. If `isNew`, also notify the person.
    case share(AgeAnswer, isNew: Bool)
    /// Ask the person whether to share this answer.
    case prompt(AgeAnswer)
  }

  /// The person's account.
  public var account: Account
  /// The day on which the account was made. Some acts cover newer accounts only.
  public var accountMade: Account.Day
  /// Whether the person is in a family.
  public var isInFamily: Bool
  /// The person's age settings.
  public var settings: AgeSettings
  /// Whether communication limits are on.
  public var limitsOn: Bool
  /// The person's calendar day.
  public var today: Account.Day
  /// The law of all regions.
  public var regions: RegionTable

  /// Creates a policy for these facts.
  public init(
    account: Account, accountMade: Account.Day, isInFamily: Bool, settings: AgeSettings,
    limitsOn: Bool, today: Account.Day, regions: RegionTable = .standard
  ) {
    self.account = account
    self.accountMade = accountMade
    self.isInFamily = isInFamily
    self.settings = settings
    self.limitsOn = limitsOn
    self.today = today
    self.regions = regions
  }

  /// The law of the person's region, as it applies to the person today.
  public var region: Region {
    regions.region(account.region, accountMade: accountMade, on: today)
  }

  /// Decides an app's request for the range between these gates.
  ///
  /// - Throws: `badAgeGates`, `ageNotAvailable`, or `tooMany` when the app has asked with too many
  ///   sets of gates within a year.
  public func decide(_ gates: [Int32], of app: AppID, _ memory: AgeMemory)
    throws(Problem) -> Decision
  {
    try AgeGates.check(gates)
    if let sandbox = settings.sandbox?.answers {
      return .reply(sandbox.range(limitsOn: limitsOn))
    }
    guard let birthdate = account.birthdate else { throw .ageNotAvailable }
    let region = region
    let sharing = region.mustShare ? .always : settings.sharing(with: app)
    guard sharing != .never else { return .reply(nil) }
    let gates = region.gates(for: gates)
    let day = memory.day(today)
    let before = memory.answer(to: gates)
    if let before, memory.isCurrent(before, day) {
      if let range = before.range { return .reply(withControls(range)) }
      if sharing == .askFirst { return .reply(nil) }
    }
    // The law's gates are few, and the app must receive an answer to them.
    guard region.mustShare || !memory.isFull(day) else { throw .tooMany }
    let new = answer(gates, memory.age(born: birthdate, day), memory, day)
    return sharing == .always
      ? .share(new, isNew: before?.range != new.range) : .prompt(new)
  }

  /// The range with the active parental controls, if it ends below the age of majority or, for the
  /// approval of updates, below the age that the region's act protects.
  public func withControls(_ range: AgeRange) -> AgeRange {
    var range = range
    let region = region
    guard let upper = range.upper else { return range }
    if limitsOn, upper < region.majority { range.controls.insert(.communicationLimits) }
    if region.features.contains(.significantAppChangeRequiresParentalConsent),
      upper < region.minorBelow
    {
      range.controls.insert(.significantAppChangeApprovalRequired)
    }
    return range
  }

  private func answer(
    _ gates: [Int32], _ age: Int32, _ memory: AgeMemory, _ day: Account.Day
  ) -> AgeAnswer {
    let known = memory.known(day)
    // Omit a gate that would narrow the span that the app knows to one year.
    var kept: [Int32] = []
    for gate in gates {
      guard !known.parts(kept + [gate]).contains(where: \.isTooNarrow) || !known.isCut(by: gate)
      else { continue }
      kept.append(gate)
    }
    if kept.isEmpty, let latest = memory.latest(day) {
      return AgeAnswer(gates: gates, day: day, range: latest, known: known)
    }
    let range = AgeSpan().part(kept, of: age)
    let possible = known.part(kept, of: age)
    let cuts = declarationCuts.filter(possible.isCut)
    // The declaration narrows the span further for an app that knows how it depends on the age.
    guard !possible.parts(cuts).contains(where: \.isTooNarrow) else {
      return AgeAnswer(
        gates: gates, day: day,
        range: AgeRange(lower: range.lower, upper: range.upper, declaration: nil), known: possible)
    }
    return AgeAnswer(
      gates: gates, day: day,
      range: AgeRange(lower: range.lower, upper: range.upper, declaration: declaration(age)),
      known: possible.part(cuts, of: age))
  }

  private func declaration(_ age: Int32) -> Account.Declaration {
    account.declaration.disclosed(age: age, majority: region.majority, isInFamily: isInFamily)
  }

  /// The ages at which the declaration changes.
  private var declarationCuts: [Int32] {
    [Account.Declaration.teenAge, region.majority].sorted()
      .filter { declaration($0) != declaration($0 - 1) }
  }
}
