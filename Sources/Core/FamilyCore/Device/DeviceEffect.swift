public import FamilyModel

/// What a device machine wants done, in this order within a step.
public enum DeviceEffect: Hashable, Sendable {
  /// Make these changes durable in one transaction. It comes first: persist before send.
  case persist([RecordChange])
  /// Send to the relay.
  case send(UInt64, Request)
  /// A question is to go to the relay: this comes back as `mayAsk` when there is room for it. It depends on
  /// nothing that has to be durable.
  case requestAdmission(CommandID)
  /// Listen to exactly these channels; `anew`: also to those listened to already, since the relay says
  /// that this device misses what it sent there.
  case listen([Channel], anew: Bool)
  /// Send to an app on this device.
  case app(AppID, AppReply)
  /// Start the app in the background; it has `budget` milliseconds.
  case launch(AppID, budget: Int64)
  /// End the app: its time is over.
  case terminate(AppID)
  /// Show the child a prompt; the answer comes back with its number.
  case prompt(UInt64, Prompt)
  /// Check what was typed against the passcode, and sign these bytes with it; comes back as
  /// `passcodeChecked` with the prompt's number.
  case checkPasscode(prompt: UInt64, typed: String, Passcode, sign: [UInt8])
  /// A question reached a guardian's device and is open (R1).
  case bubble(Bubble)
  /// Tell the person something.
  case notify(Notice)
}

/// What the child is asked before a question goes out (A1, A2, A6).
public enum Prompt: Hashable, Sendable {
  /// Ask by message, approve in person, or cancel.
  case permission(AppID, Question)
  /// The compose sheet, addressed to these guardians. Names may be added or edited.
  case compose(AppID, Question, to: [Person])
  /// The same people are asked about already.
  case alreadyAsked(AppID, Question, mayRemind: Bool)
  /// A guardian types the passcode (A4), not before so many milliseconds are over; `wrong`: the one
  /// before was.
  case passcode(AppID, Question, wait: Int64, wrong: Bool)
  /// An adult takes note of a significant update.
  case acknowledge(AppID, Question)
  /// Share this age range with the app, or not (D6).
  case ageRange(AppID, AgeRange)
  /// A guardian types the passcode to change a child's age settings here (D7), not before so many
  /// milliseconds are over; `wrong`: the one before was.
  case ageSettings(AgeSettings, wait: Int64, wrong: Bool)
}

/// What the child answers to a prompt.
public enum PromptAnswer: Hashable, Sendable {
  /// Ask by message: goes on to the compose sheet.
  case askByMessage
  /// A guardian is here (A4).
  case inPerson
  /// Send, with these names instead of the app's; one per person of the topic, `nil` leaves it.
  case send(names: [NameParts?])
  /// Remind the guardians (A6).
  case remind
  /// The passcode as typed, and the choice; `nil`: the first one that approves.
  case passcode(String, choice: String?)
  /// Taken note of.
  case acknowledge
  /// Share the age range.
  case share
  /// Do not share it.
  case dontShare
  /// Leave it (A5).
  case cancel
}

/// Something worth a notification. It holds no text: who shows it chooses the words.
public enum Notice: Hashable, Sendable {
  /// A question of the child was answered (R5).
  case decided(QuestionID, ChoiceHeader, by: PersonID)
  /// A command was refused by the relay.
  case refused(Command, Problem)
  /// The family has no Screen Time passcode, so nothing can be approved in person (A4).
  case noPasscode
  /// Somebody wrote into a conversation (M1).
  case message(child: PersonID, from: PersonID, seq: UInt64)
  /// A reminder of an open question (A6).
  case reminded(QuestionID)
  /// A guardian took something back (R9).
  case withdrawn(Withdrawal, by: PersonID)
  /// Something new about the person's age was told to an app, and nobody was asked (D6).
  case ageShared(AppID, AgeRange)
  /// The relay handed over something that is not believed; it changed nothing (X3).
  case eventRejected(Problem)
  /// An app does not believe what this device told it, and has not taken it (X3).
  case appRejected(AppID, Problem)
  /// A device has the code of an invitation and asks to join (F3).
  case wantsToJoin(JoinRequest)
  /// The relay does not let this device in.
  case shutOut(Problem)
}

/// A question as a guardian's device shows it (M2, M6).
public struct Bubble: Hashable, Sendable {
  /// The child who asks.
  public var child: Person
  /// The app.
  public var app: AppID
  /// The question in full.
  public var question: Question
  /// Its place in the conversation.
  public var seq: UInt64
}
