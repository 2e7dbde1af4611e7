import FamilyCore
public import FamilyModel
public import PermissionKit
import SiteNames

/// A child's access to a site: allowed, blocked, or allowed after a guardian's approval.
public typealias WebAccess = FamilyModel.WebAccess

/// How a child's device treats sensitive pictures, which guardians choose.
public typealias CommunicationSafety = FamilyModel.CommunicationSafety

/// A guardian of a ``TestFamily``.
public struct TestGuardian: Sendable {
  /// A guardian's answer to a question.
  public struct Answer: Sendable {
    enum Kind: Sendable { case approve, decline, choose(String), never }
    let kind: Kind
    /// Chooses the first choice that approves.
    public static let approve = Answer(kind: .approve)
    /// Chooses the first choice that declines.
    public static let decline = Answer(kind: .decline)
    /// Chooses the choice with this id. A question without such a choice stays open.
    public static func choose(_ id: String) -> Answer { Answer(kind: .choose(id)) }
    /// Leaves the question open. This is the default.
    public static let never = Answer(kind: .never)

    func choice(in question: Question) -> String? {
      switch kind {
      case .approve: question.choices.first { $0.answer == .approval }?.id
      case .decline: question.choices.first { $0.answer == .denial }?.id
      case .choose(let id): question.choices.first { $0.id == id }?.id
      case .never: nil
      }
    }
  }

  let family: TestFamily
  let device: UInt32

  /// Sets the guardian's answer to all later questions.
  ///
  /// - Parameters:
  ///   - answer: The answer. Open questions keep the plan that they arrived with: see
  ///     ``answer(_:)``.
  ///   - delay: The time between a question's arrival and its answer. A positive delay ends only
  ///     when the test calls ``TestFamily/advance(by:)``.
  public func will(_ answer: Answer, after delay: Duration = .zero) {
    family.perform { $0.plans[device] = .guardian(answer, delay: Milliseconds(delay)) }
  }

  /// Answers the open questions now.
  ///
  /// - Returns: The number of open questions, including those that the answer leaves open.
  @discardableResult
  public func answer(_ answer: Answer) async -> Int {
    let count = family.perform { family in
      let open = family.guardians[device]?.open(now: family.now) ?? []
      for bubble in open {
        guard let choice = answer.choice(in: bubble.question) else { continue }
        family.act(device, .answer(bubble.question.id, choice: choice))
      }
      return open.count
    }
    await family.settle()
    return count
  }

  /// The handles of each open question, in the order of the questions.
  public var openQuestions: [[CommunicationHandle]] {
    family.perform { family in
      (family.guardians[device]?.open(now: family.now) ?? []).map { bubble in
        bubble.question.topic.handles.map { CommunicationHandle($0) }
      }
    }
  }

  /// Withdraws the approval of a handle in every app. The handle is no longer known.
  public func withdraw(_ handle: CommunicationHandle) async {
    await act(.withdraw(child: InMemoryFamily.childID, .handle(handle.model, in: nil)))
  }

  /// Withdraws the consent to the app. Until a guardian gives the consent back or approves an update,
  /// no handle is known, and questions about people and age requests throw.
  public func withdrawConsent() async {
    let app = family.perform(\.app)
    await act(.withdraw(child: InMemoryFamily.childID, .consent(app)))
  }

  /// Gives the consent to the app back.
  public func giveConsent() async {
    let app = family.perform(\.app)
    await act(.withdraw(child: InMemoryFamily.childID, .consentGiven(app)))
  }

  /// Adds a handle to the child's contacts, or removes it. A contact is known in every app.
  public func setContact(_ handle: CommunicationHandle, known: Bool = true) async {
    await act(.changeContact(child: InMemoryFamily.childID, handle.model, known: known))
  }

  /// Turns the child's communication limits on or off. Default: on.
  public func setLimits(on: Bool) async {
    await act(.setLimits(child: InMemoryFamily.childID, on: on))
  }

  /// Sets the child's age sharing: always, ask first (the default) or never.
  public func setAgeSharing(_ sharing: AgeSharing) async {
    await changeAge { $0.sharing = sharing }
  }

  /// Sets the highest app rating that the child may use; `nil` (the default): all ratings.
  ///
  /// The app of a ``TestFamily`` has no rating and counts as 18+. Below that ceiling, every call of
  /// the app fails.
  public func setCeiling(_ ceiling: AgeRating?) async { await changeAge { $0.ceiling = ceiling } }

  /// Sets the child's rules for the web. Default: every site is allowed.
  ///
  /// - Parameters:
  ///   - others: The access to sites without a rule of their own.
  ///   - sites: The access to the sites of these hosts. Precondition: each key is a host.
  ///   - report: The detail in which guardians read about the use of the web.
  public func setWebRules(
    _ others: WebAccess, sites: [String: WebAccess] = [:], report: WebReport = .off
  ) async {
    var rules = WebRules()
    rules.others = others
    rules.report = report
    for (host, access) in sites { rules.sites[Site(test: host)] = access }
    await act(.changeSettings(InMemoryFamily.childID, .webRules(rules)))
  }

  /// The child's use of the web, by day, as the guardian's device knows it.
  public var webReport: [WebDay] {
    family.perform { family in
      family.guardians[device]?.link.webReport(of: InMemoryFamily.childID) ?? []
    }
  }

  /// Deletes the reports about a site or, if `nil` (the default), all reports.
  ///
  /// - Parameter host: A host of the site. Precondition: the text is a host.
  public func deleteWebReport(of host: String? = nil) async {
    let site = host.map { Site(test: $0) }
    await act(.changeSettings(InMemoryFamily.childID, .webUseDeleted(site)))
  }

  /// Sets how the child's apps treat sensitive pictures. Default: off.
  public func setCommunicationSafety(_ setting: CommunicationSafety) async {
    await act(.changeSettings(InMemoryFamily.childID, .communicationSafety(setting)))
  }

  /// Withdraws the approval of a site. The child has to ask again.
  ///
  /// - Parameter host: A host of the site. Precondition: the text is a host.
  public func withdraw(site host: String) async {
    await act(.withdraw(child: InMemoryFamily.childID, .handle(Handle(Site(test: host)), in: nil)))
  }

  /// Withdraws the app's authorization to manage the child. All stores of the app are then empty.
  public func withdrawAuthorization() async {
    let app = family.perform(\.app)
    await act(.withdraw(child: InMemoryFamily.childID, .handle(.authorization, in: app)))
  }

  private func changeAge(_ change: @Sendable (inout AgeSettings) -> Void) async {
    var settings = family.perform { family in
      family.guardians[device]?.link.age(of: InMemoryFamily.childID).settings ?? AgeSettings()
    }
    change(&settings)
    await act(.setAge(InMemoryFamily.childID, settings))
  }

  /// Sets the family's Screen Time passcode. Default: none.
  ///
  /// - Parameters:
  ///   - passcode: The passcode. Precondition: 6 to 64 characters, as for relayctl.
  ///   - file: The file that a violated precondition names.
  ///   - line: The line that a violated precondition names.
  public func setPasscode(
    _ passcode: String, file: StaticString = #file, line: UInt = #line
  ) async {
    precondition(
      Limits.passcodeLength ~= passcode.count,
      "“\(passcode)” is no passcode (\(Problem.badText)).", file: file, line: line)
    await act(.choosePasscode(passcode))
  }

  /// Posts a text message in the child's conversation.
  public func post(_ text: String) async { await act(.post(child: InMemoryFamily.childID, text)) }

  private func act(_ input: GuardianMachine.Input) async {
    family.perform { $0.act(device, input) }
    await family.settle()
  }
}

extension Site {
  fileprivate init(test host: String) {
    guard let site = Site(host: host) else { preconditionFailure("“\(host)” is no host.") }
    self = site
  }
}
