import FamilyCore
public import FamilyModel
public import PermissionKit

/// A guardian of a ``TestFamily``.
public struct TestGuardian: Sendable {
  /// How a guardian answers.
  public struct Answer: Sendable {
    enum Kind: Sendable { case approve, decline, choose(String), never }
    let kind: Kind
    /// With the first choice that approves.
    public static let approve = Answer(kind: .approve)
    /// With the first choice that declines.
    public static let decline = Answer(kind: .decline)
    /// With the choice of this id; a question without it stays open.
    public static func choose(_ id: String) -> Answer { Answer(kind: .choose(id)) }
    /// Not at all: what every guardian does, unless the test says otherwise.
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
  let device: DeviceID

  /// From now on the guardian answers every question like this, `delay` after it came.
  public func will(_ answer: Answer, after delay: Duration = .zero) {
    let (seconds, attoseconds) = delay.components
    let milliseconds = seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    family.perform { $0.plans[device] = .guardian(answer, delay: milliseconds) }
  }

  /// Answers the questions that are open now.
  ///
  /// - Returns: how many.
  @discardableResult
  public func answer(_ answer: Answer) async -> Int {
    let count = family.perform { home in
      let open = home.guardians[device]?.open(now: home.now) ?? []
      for bubble in open {
        guard let choice = answer.choice(in: bubble.question) else { continue }
        home.act(device, .answer(bubble.question.id, choice: choice))
      }
      return open.count
    }
    await family.settle()
    return count
  }

  /// The questions that wait for an answer, as the guardian reads them: whom the child wants to talk to.
  public var openQuestions: [[CommunicationHandle]] {
    family.perform { home in
      (home.guardians[device]?.open(now: home.now) ?? []).map { bubble in
        bubble.question.topic.handles.map { CommunicationHandle($0) }
      }
    }
  }

  /// Takes an approval back, or a contact off the list (R9): the app forgets the handle.
  public func withdraw(_ handle: CommunicationHandle) async {
    await act(.withdraw(child: InMemoryFamily.childID, .handle(handle.model, in: nil)))
  }

  /// Takes back that the child goes on using the app (R9).
  public func withdrawConsent() async {
    let app = family.perform(\.app)
    await act(.withdraw(child: InMemoryFamily.childID, .consent(app)))
  }

  /// Puts a handle on the child's list of known contacts, or takes it off (K1).
  public func setContact(_ handle: CommunicationHandle, known: Bool = true) async {
    await act(.changeContact(child: InMemoryFamily.childID, handle.model, known: known))
  }

  /// Turns the child's communication limits on or off (F6).
  public func setLimits(on: Bool) async {
    await act(.setLimits(child: InMemoryFamily.childID, on: on))
  }

  /// Chooses whether the child's age range is shared with apps (D6, D7).
  public func setAgeSharing(_ sharing: AgeSharing) async {
    await changeAge { $0.sharing = sharing }
  }

  /// Chooses the highest rating of an app that the child may use; `nil`: all (D13).
  public func setCeiling(_ ceiling: AgeRating?) async { await changeAge { $0.ceiling = ceiling } }

  private func changeAge(_ change: @Sendable (inout AgeSettings) -> Void) async {
    var settings = family.perform { home in
      home.guardians[device]?.link.age(of: InMemoryFamily.childID).settings ?? AgeSettings()
    }
    change(&settings)
    await act(.setAge(InMemoryFamily.childID, settings))
  }

  /// Sets the family's Screen Time passcode (A4).
  public func setPasscode(_ passcode: String) async {
    await act(.setPasscode(InMemoryFamily.passcode(passcode)))
  }

  /// Writes a text message into the conversation (M1).
  public func post(_ text: String) async { await act(.post(child: InMemoryFamily.childID, text)) }

  private func act(_ input: GuardianMachine.Input) async {
    family.perform { $0.act(device, input) }
    await family.settle()
  }
}
