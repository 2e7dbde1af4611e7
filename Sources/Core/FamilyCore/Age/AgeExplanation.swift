public import FamilyModel

/// The rule that gives an app its age answer, and the next day on which the answer can change.
///
/// An explanation is for the person, the guardians and the developer's test kit. No app receives
/// one.
public struct AgeExplanation: Hashable, Sendable {
  /// A rule. The raw value is its name in output for programs.
  public enum Rule: String, Hashable, Sendable, CaseIterable {
    /// The account has no birthdate, so the request fails.
    case noBirthdate = "no-birthdate"
    /// A case of Apple's sandbox answers for the person.
    case sandbox
    /// The law of the region requires sharing, with the region's gates.
    case requiredByLaw = "required-by-law"
    /// The setting is never: the request is declined.
    case never
    /// An answer that the person shared still holds.
    case rememberedAnswer = "remembered-answer"
    /// The person's refusal still holds.
    case rememberedRefusal = "remembered-refusal"
    /// The app has used too many sets of gates within the year.
    case tooManyGates = "too-many-gates"
    /// The setting is always: the next request shares the present range.
    case always
    /// The setting is ask first: the next request prompts the person.
    case askFirst = "ask-first"
  }

  /// The app.
  public var app: AppID
  /// The gates that apply to the request, after the law and the age of majority.
  public var gates: [Int32]
  /// The rule.
  public var rule: Rule
  /// The sharing setting that applies to the app.
  public var sharing: AgeSharing
  /// Whether the app has a setting of its own.
  public var isAppSetting: Bool
  /// The range that the app receives without a prompt; `nil`: none, or a prompt decides.
  public var range: AgeRange?
  /// The day of the answer that holds; `nil` without one.
  public var answeredOn: Account.Day?
  /// The next day on which the answer can change without an act of a person; `nil`: none is known.
  /// Anniversaries of the person's first answer and changes of the law are such days.
  public var changesOn: Account.Day?
  /// The act that the rule applies; `nil` unless the law requires sharing.
  public var act: String?
}

extension AgePolicy {
  /// Explains the answer to a request with these gates. Explaining changes nothing.
  public func explain(_ requested: [Int32], of app: AppID, _ memory: AgeMemory) -> AgeExplanation {
    let region = region
    let day = memory.day(today)
    let gates = region.gates(for: requested)
    var explanation = AgeExplanation(
      app: app, gates: gates, rule: .askFirst, sharing: settings.sharing(with: app),
      isAppSetting: settings.apps[app] != nil,
      changesOn: regions.nextChange(of: account.region, accountMade: accountMade, after: today))
    if settings.sandbox?.answers != nil {
      explanation.rule = .sandbox
      explanation.changesOn = nil
    } else if account.birthdate == nil {
      explanation.rule = .noBirthdate
      explanation.changesOn = nil
      return explanation
    } else if region.mustShare {
      explanation.rule = .requiredByLaw
      explanation.act = regions.line(account.region)?.act
    } else if explanation.sharing == .never {
      explanation.rule = .never
      return explanation
    }
    let before = memory.answer(to: gates)
    let holds = before.map { memory.isCurrent($0, day) } ?? false
    if let before, holds, explanation.rule != .sandbox,
      before.range != nil || explanation.rule == .askFirst && explanation.sharing == .askFirst
    {
      explanation.answeredOn = before.day
      explanation.changesOn = [explanation.changesOn, memory.end(of: before)]
        .compactMap { $0 }.min()
    }
    switch try? decide(requested, of: app, memory) {
    case .reply(let range?):
      explanation.range = range
      if explanation.rule == .askFirst { explanation.rule = .rememberedAnswer }
    case .reply(nil): explanation.rule = .rememberedRefusal
    case .share(let answer, _):
      explanation.range = answer.range.map(withControls)
      if explanation.rule == .askFirst { explanation.rule = .always }
    case .prompt: explanation.rule = .askFirst
    case nil: explanation.rule = .tooManyGates
    }
    return explanation
  }

  /// Explains each answer that the app received, in the order of the answers.
  public func explanations(of app: AppID, _ memory: AgeMemory) -> [AgeExplanation] {
    memory.answers.map { explain($0.gates, of: app, memory) }
  }
}

extension AgePolicy {
  /// The policy for a person whose account this device may read; `nil` without the account.
  ///
  /// - Parameter today: The person's calendar day; see ``DeviceLink/accountMade(of:)``.
  public init?(
    of person: PersonID, in link: DeviceLink, isInFamily: Bool = true, regions: RegionTable,
    calendar: (Instant, _ timeZone: String) -> Account.Day, now: Instant
  ) {
    guard let account = link.accounts[person] else { return nil }
    let today = calendar(now, account.timeZone)
    let made = link.accountMade(of: person).map { calendar($0, account.timeZone) }
    self.init(
      account: account, accountMade: made ?? today, isInFamily: isInFamily,
      settings: link.age(of: person).settings, limitsOn: link.limitsOn(for: person), today: today,
      regions: regions)
  }
}
