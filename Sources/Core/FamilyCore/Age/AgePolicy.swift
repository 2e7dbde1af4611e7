public import FamilyModel

/// Decides what an app is told about a person's age. A value: who asks is told the same whenever the same is
/// known.
///
/// Whatever it leaves out of an answer it leaves out by what the app knows already, and never by the person's
/// age: so that nothing can be read off what is missing.
public struct AgePolicy: Sendable {
  /// What is to be done about a request.
  public enum Decision: Hashable, Sendable {
    /// Declined, or told already: nothing is shown.
    case reply(AgeRange?)
    /// Tell it without a prompt; `isNew`: and notify the person.
    case share(AgeAnswer, isNew: Bool)
    /// Ask the person whether to tell this.
    case prompt(AgeAnswer)
  }

  /// The person's account.
  public var account: Account
  /// Whether the person is in a family group (D4).
  public var isInFamily: Bool
  /// What is set.
  public var settings: AgeSettings
  /// Whether communication limits are on (F6).
  public var limitsOn: Bool
  /// The person's calendar day.
  public var today: Account.Day

  /// A policy for these facts.
  public init(
    account: Account, isInFamily: Bool, settings: AgeSettings, limitsOn: Bool, today: Account.Day
  ) {
    self.account = account
    self.isInFamily = isInFamily
    self.settings = settings
    self.limitsOn = limitsOn
    self.today = today
  }

  /// What the law of the person's region asks.
  public var region: Region { Region(account.region) }

  /// What to do when the app asks for the range between these gates.
  ///
  /// - Throws: `badAgeGates`, `ageNotAvailable`, or `tooMany` when the app has asked with too many sets of
  ///   gates within a year.
  public func decide(_ gates: [Int32], of app: AppID, _ memory: AgeMemory)
    throws(Problem) -> Decision
  {
    try AgeGates.check(gates)
    guard let birthdate = account.birthdate else { throw .ageNotAvailable }
    let sharing = region.mustShare ? .always : settings.sharing(with: app)
    guard sharing != .never else { return .reply(nil) }
    let gates = AgeGates.clamped(gates, majority: region.majority)
    let day = memory.day(today)
    let before = memory.answer(to: gates)
    if let before, memory.isCurrent(before, day) {
      if let range = before.range { return .reply(withControls(range)) }
      if sharing == .askFirst { return .reply(nil) }
    }
    guard !memory.isFull(day) else { throw .tooMany }
    let new = answer(gates, memory.age(born: birthdate, day), memory, day)
    return sharing == .always
      ? .share(new, isNew: before?.range != new.range) : .prompt(new)
  }

  /// The range with the controls that are active now: where it ends below the age of majority (D5).
  public func withControls(_ range: AgeRange) -> AgeRange {
    var range = range
    guard let upper = range.upper, upper < region.majority else { return range }
    if limitsOn { range.controls.insert(.communicationLimits) }
    if region.features.contains(.significantAppChangeRequiresParentalConsent) {
      range.controls.insert(.significantAppChangeApprovalRequired)
    }
    return range
  }

  private func answer(
    _ gates: [Int32], _ age: Int32, _ memory: AgeMemory, _ day: Account.Day
  ) -> AgeAnswer {
    let known = memory.known(day)
    // A gate that would leave one year of what the app knows is left out.
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
    // Saying how it was declared cuts what is possible once more, for who knows D4.
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
    account.declaration.told(age: age, majority: region.majority, isInFamily: isInFamily)
  }

  /// The ages from which on it is another one.
  private var declarationCuts: [Int32] {
    [Account.Declaration.teenAge, region.majority].sorted()
      .filter { declaration($0) != declaration($0 - 1) }
  }
}
