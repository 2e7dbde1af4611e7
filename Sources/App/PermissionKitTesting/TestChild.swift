public import FamilyCore
public import FamilyModel
public import Foundation

/// The child of a ``TestFamily``, who uses the device with the app.
public struct TestChild: Sendable {
  /// The child's answer to the prompts of a question.
  public struct Answer: Sendable {
    enum Kind: Sendable {
      case ask(names: [NameParts?])
      case inPerson(passcode: String, choice: String?)
      case cancel
      case remind
    }
    let kind: Kind

    /// Asks by message. This is the default.
    public static let askByMessage = Answer(kind: .ask(names: []))
    /// Asks by message, with names that the child types on the compose sheet.
    ///
    /// - Parameter names: One name per person of the topic, in order; `nil` keeps the app's name.
    ///   Given, middle and family name and nickname count.
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
    /// Chooses “Approve in Person”, whereupon a guardian types the passcode, once.
    ///
    /// A wrong passcode cancels the prompt. Precondition: a guardian has set a passcode, as
    /// ``TestGuardian/setPasscode(_:file:line:)`` does.
    ///
    /// - Parameters:
    ///   - passcode: The typed text.
    ///   - choice: The id of one of the question's choices; `nil`: the first choice that approves.
    public static func approveInPerson(passcode: String, choice: String? = nil) -> Answer {
      Answer(kind: .inPerson(passcode: passcode, choice: choice))
    }
    /// Cancels every prompt.
    public static let cancel = Answer(kind: .cancel)
    /// Asks by message, and sends a reminder where a question about the same people is open.
    ///
    /// The relay accepts one reminder per question and quarter of an hour.
    public static let remind = Answer(kind: .remind)
  }

  let family: TestFamily

  /// Sets the child's answer to all later prompts of questions.
  public func will(_ answer: Answer) {
    family.perform { $0.plans[InMemoryFamily.childDevice] = .child(answer) }
  }

  /// The person's answer to an age prompt.
  public enum AgeAnswer: Sendable {
    /// Shares the range. This is the default.
    case share
    /// Declines for a year.
    case dontShare
    /// Dismisses the prompt: this request is declined, and the next one prompts again.
    case leaveIt
  }

  /// Sets the person's answer to all later age prompts.
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

  /// Changes the age sharing setting on this device.
  ///
  /// For a child, a guardian must type the passcode: set
  /// ``Answer/approveInPerson(passcode:choice:)`` before. Otherwise the setting stays as it was.
  public func setAgeSharing(_ sharing: AgeSharing) async {
    family.perform { family in
      var settings = family.child.age.settings
      settings.sharing = sharing
      family.step(.setAge(settings))
    }
    await family.settle()
  }

  /// Deletes the stored age answers to the app, so that the next request yields the present range.
  public func shareAgeAgain() async {
    family.perform { $0.step(.shareAgain($0.app)) }
    await family.settle()
  }

  /// The rule behind each age answer that the app received, and the next day on which the answer can
  /// change. The person and the guardians see the same; no app does.
  public var ageExplanations: [AgeExplanation] {
    family.perform { $0.child.ageExplanations(now: $0.now) }
  }

  /// The window names of all prompts that the device has shown, in order.
  ///
  /// A name is the app's `PresentationAnchor.windowName`.
  public var promptWindows: [String] { family.perform(\.promptWindows) }

  /// The number of age prompts that the device has shown.
  public var agePrompts: Int { family.perform(\.agePrompts) }

  /// The number of notifications about age ranges shared without a prompt.
  public var ageNotifications: Int {
    family.perform { family in
      family.notices.count { if case .ageShared = $0 { true } else { false } }
    }
  }

  /// Cancels all open questions. No response follows.
  public func cancelQuestions() async {
    family.perform { family in
      let open =
        family.child.conversation?.questions.unanswered.filter { $0.isOpen(family.now) } ?? []
      for state in open { family.step(.cancel(state.header.id)) }
    }
    await family.settle()
  }

  /// Connects the child's device to the network or disconnects it.
  ///
  /// Questions of an offline device wait in its outbox.
  public func setOnline(_ isOnline: Bool) async {
    family.perform { $0.setOnline(isOnline) }
    await family.settle()
  }

  /// The number of notifications about decisions that the child has received.
  public var notifications: Int {
    family.perform { family in
      family.notices.count { if case .decided = $0 { true } else { false } }
    }
  }
}
