public import FamilyModel

/// An effect of a device machine. The shell carries out the effects of a step in order.
public enum DeviceEffect: Hashable, Sendable {
  /// Make these changes durable in one transaction. Always the first effect of a step: persist
  /// before send.
  case persist([RecordChange])
  /// Send a request to the relay. The reply carries the number; number zero requests no reply.
  case send(UInt64, Request)
  /// Request admission of a question. The shell answers with the input `admitted` when its question
  /// window has room. This effect does not depend on the step's durable changes.
  case requestAdmission(CommandID)
  /// Subscribe to exactly these channels. `resubscribes` also renews existing subscriptions,
  /// because the relay reports that broadcasts on them do not arrive.
  case listen([Channel], resubscribes: Bool)
  /// Send a reply to an app on this device.
  case app(AppID, AppReply)
  /// Launch the app in the background for at most `budget`.
  case launch(AppID, budget: Milliseconds)
  /// Terminate an app that has used up its budget.
  case terminate(AppID)
  /// Show a prompt to the device's owner, with the name of the app's window that asked; empty: none
  /// given. The answer carries the prompt's number.
  case prompt(UInt64, Prompt, window: String = "")
  /// Check a typed passcode with the relay's evaluation and, if it is right, sign these bytes with
  /// it. The shell answers with the input `passcodeChecked`, which carries the prompt's number.
  case checkPasscode(
    prompt: UInt64, PasscodeAttempt, PasscodeEvaluation, Passcode, sign: [UInt8])
  /// Check a picture for an app, off the device's thread and within a limited time. The shell answers
  /// once with the input `pictureChecked`, which carries the number, and keeps nothing of the picture.
  case checkPicture(UInt64, Avatar)
  /// Derive the public part of a new passcode from the relay's evaluation. The shell answers with a
  /// guardian's input `setPasscode`.
  case derivePasscode(PasscodeAttempt, PasscodeEvaluation)
  /// Show an open question on a guardian's device.
  case bubble(Bubble)
  /// The consent to the app was withdrawn or given back, by the command with this id. A gateway
  /// posts the change to the app's server, with the command's id as the idempotency key. A kill may
  /// lose the effect; ``ChildMachine/consents`` has the same statement after a restart.
  case consentChanged(AppID, isWithdrawn: Bool, by: CommandID)
  /// Report a notice to the device's owner.
  case notify(Notice)
  /// Make a snapshot of this device from its durable records, in the background. The shell answers
  /// with the input `snapshotMade`, which carries the number.
  case makeSnapshot(UInt64)
  /// Show a new notification outside the program, for example on the desktop. Each notification has
  /// this effect once.
  case alert(DeviceNotification)
}

/// A dialog that a device shows to its owner.
public enum Prompt: Hashable, Sendable {
  /// Ask by message, approve in person, or cancel.
  case permission(AppID, Question)
  /// The compose sheet, addressed to these guardians. The child may add or edit names.
  case compose(AppID, Question, to: [Person])
  /// An open question about the same people exists already.
  case alreadyAsked(AppID, Question, mayRemind: Bool)
  /// A guardian types the passcode to decide in person, after at least `wait`. `after` is the
  /// reason why the previous attempt failed.
  case passcode(AppID, Question, wait: Milliseconds, after: PasscodeFailure?)
  /// An adult acknowledges a significant update.
  case acknowledge(AppID, Question)
  /// The person decides whether to share this age range with the app.
  case ageRange(AppID, AgeRange)
  /// A guardian types the passcode to change a child's age settings, after at least `wait`.
  /// `after` is the reason why the previous attempt failed.
  case ageSettings(AgeSettings, wait: Milliseconds, after: PasscodeFailure?)
}

/// The reason why a typed passcode had no effect.
public enum PasscodeFailure: Hashable, Sendable {
  /// The passcode is not the family's.
  case wrong
  /// The passcode was not checked: the relay did not answer, refused the guess, or has no part of
  /// the passcode.
  case unchecked(Problem)
}

/// The answer to a prompt.
public enum PromptAnswer: Hashable, Sendable {
  /// Ask by message: the compose sheet follows.
  case askByMessage
  /// Approve in person: the passcode prompt follows.
  case inPerson
  /// Send the question with these names, one per person of the topic; `nil` keeps the app's name.
  case send(names: [NameParts?])
  /// Remind the guardians.
  case remind
  /// The passcode as typed, and the choice; `nil` stands for the first approving choice.
  case passcode(String, choice: String?)
  /// The update is acknowledged.
  case acknowledge
  /// Share the age range.
  case share
  /// Decline to share the age range.
  case dontShare
  /// Cancel the prompt. Nothing is sent.
  case cancel
}

/// A notice for the device's owner. The program that shows it chooses its words.
public enum Notice: Hashable, Sendable {
  /// A guardian decided a question.
  case decided(QuestionID, ChoiceHeader, by: PersonID)
  /// The relay, or this device, refused a command.
  case refused(Command, Problem)
  /// The family has no Screen Time passcode, so decisions in person are impossible.
  case noPasscode
  /// The relay did not prepare a new passcode, so the passcode is unchanged.
  case passcodeNotSet(Problem)
  /// Another person wrote a message into a conversation.
  case message(child: PersonID, from: PersonID, seq: UInt64)
  /// The child reminded the guardians of an open question.
  case reminded(QuestionID)
  /// A guardian withdrew an approval, or gave a consent back.
  case withdrawn(Withdrawal, by: PersonID)
  /// An app received a new age range without a prompt, because the settings allow it.
  case ageShared(AppID, AgeRange)
  /// An app's rating has risen to this one since the device last started.
  case ratingRaised(AppID, AgeRating)
  /// The ratings of apps on a child's device have risen to these.
  case ratingsRaised(child: PersonID, [RisenRating])
  /// The device rejected an event of the relay. The event changed nothing.
  case eventRejected(Problem)
  /// The relay no longer shows these events of an audience, which the device has read. The relay lost
  /// them, or shows another history.
  case historyLost(Audience, ClosedRange<UInt64>)
  /// This device cannot open this number of contents yet, and has asked the family for their keys.
  case unopened(Int)
  /// An app rejected a message of this device. The message changed nothing.
  case appRejected(AppID, Problem)
  /// A device with the code of an invitation requests to join.
  case wantsToJoin(JoinRequest)
  /// A device joined the family, or got other keys.
  case deviceAdded(DeviceID, of: PersonID)
  /// The relay refuses to serve this device.
  case shutOut(Problem)
}

/// A question as a guardian's device shows it.
public struct Bubble: Hashable, Sendable {
  /// The child that asked.
  public var child: Person
  /// The app that the question is about.
  public var app: AppID
  /// The question with its content open.
  public var question: Question
  /// The sequence number of the question's event.
  public var seq: UInt64
}
