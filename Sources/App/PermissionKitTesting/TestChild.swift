import FamilyCore
public import FamilyModel
public import Foundation

/// The child of a ``TestFamily``, who sits before the device that runs the app.
public struct TestChild: Sendable {
  /// What the child does when the device asks.
  public struct Answer: Sendable {
    enum Kind: Sendable {
      case ask(names: [NameParts?])
      case inPerson(passcode: String, choice: String?)
      case cancel
      case remind
    }
    let kind: Kind

    /// Asks by message: what every child does, unless the test says otherwise.
    public static let askByMessage = Answer(kind: .ask(names: []))
    /// Asks by message, with these names on the compose sheet; one per person, `nil` leaves the app's (A2).
    public static func askByMessage(names: [PersonNameComponents?]) -> Answer {
      Answer(
        kind: .ask(
          names: names.map { name in
            name.map { name in
              var parts = NameParts()
              parts.given = name.givenName ?? ""
              parts.middle = name.middleName ?? ""
              parts.family = name.familyName ?? ""
              parts.nickname = name.nickname ?? ""
              return parts
            }
          }))
    }
    /// A guardian is there and types this passcode, once (A4); `choice`: the id of one of the question's
    /// choices, or the first one that approves.
    public static func approveInPerson(passcode: String, choice: String? = nil) -> Answer {
      Answer(kind: .inPerson(passcode: passcode, choice: choice))
    }
    /// Cancels (A5).
    public static let cancel = Answer(kind: .cancel)
    /// Asks by message, and reminds the guardians where they are asked already (A6).
    public static let remind = Answer(kind: .remind)
  }

  let family: TestFamily

  /// From now on the child does this whenever the device asks.
  public func will(_ answer: Answer) {
    family.perform { $0.plans[InMemoryFamily.childDevice] = .child(answer) }
  }

  /// What the person does when an app wants the age range.
  public enum AgeAnswer: Sendable {
    /// Shares it: what everybody does, unless the test says otherwise.
    case share
    /// Does not.
    case dontShare
    /// Leaves the prompt without an answer.
    case leaveIt
  }

  /// From now on the person does this when an app wants the age range (D6).
  public func will(_ answer: AgeAnswer) {
    family.perform {
      $0.agePlan =
        switch answer {
        case .share: .share
        case .dontShare: .dontShare
        case .leaveIt: .cancel
        }
    }
  }

  /// Changes the setting on the child's device; a child needs a guardian who types the passcode (D7): see
  /// ``Answer/approveInPerson(passcode:choice:)``.
  public func setAgeSharing(_ sharing: AgeSharing) async {
    family.perform { home in
      var settings = home.child.age.settings
      settings.sharing = sharing
      home.step(.setAge(settings))
    }
    await family.settle()
  }

  /// Has forgotten what the app was told: the next request gives the present range (D9).
  public func shareAgeAgain() async {
    family.perform { $0.step(.shareAgain($0.app)) }
    await family.settle()
  }

  /// How often the person was asked whether to share the age range.
  public var agePrompts: Int { family.perform(\.agePrompts) }

  /// How many notifications there were of age ranges that were shared without a prompt (D6).
  public var ageNotifications: Int {
    family.perform { home in
      home.notices.count { if case .ageShared = $0 { true } else { false } }
    }
  }

  /// Takes back all questions that are open (R8).
  public func cancelQuestions() async {
    family.perform { home in
      let open = home.child.conversation?.inOrder.filter { $0.isOpen(home.now) } ?? []
      for state in open { home.step(.cancel(state.header.id)) }
    }
    await family.settle()
  }

  /// The network reaches the child's device, or it does not: what is asked meanwhile is sent later.
  public func setOnline(_ isOnline: Bool) async {
    family.perform { home in
      guard home.away.contains(InMemoryFamily.childDevice) == isOnline else { return }
      if isOnline {
        home.away.remove(InMemoryFamily.childDevice)
        home.step(.connected)
      } else {
        home.away.insert(InMemoryFamily.childDevice)
        home.step(.disconnected)
      }
    }
    await family.settle()
  }

  /// How many notifications of decisions the child got (R5).
  public var notifications: Int {
    family.perform { home in
      home.notices.count { if case .decided = $0 { true } else { false } }
    }
  }
}
