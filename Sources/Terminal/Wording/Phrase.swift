/// What the system says in fixed words; `Wording` says it in a language.
///
/// `%1`, `%2` below are the arguments, in their order.
public enum Phrase: String, CaseIterable, Sendable {
  // MARK: The child's prompt and compose sheet (A1, A2)

  /// The text of the child's first prompt: permission is needed. `%1` the app, `%2` the people.
  case permissionPrompt
  /// The button that asks with a message.
  case askByMessage
  /// The button that lets a guardian who is present decide on this device.
  case approveInPerson
  /// The button that goes back without sending anything (A5).
  case cancel
  /// To whom the message goes. `%1` the guardians.
  case composeTo
  /// The field for the name of a person whom the app did not name. `%1` the handle.
  case addName
  /// The button that sends the message.
  case send

  // MARK: Asking again (A6)

  /// There is an open question about the same people. `%1` the people.
  case alreadyAsked
  /// The button that reminds the guardians of it.
  case remind
  /// The button that lets it be and reminds nobody.
  case leaveIt

  // MARK: Approving in person (A4)

  /// Asks the guardian for the passcode.
  case enterPasscode
  /// The passcode was not the right one.
  case wrongPasscode
  /// No passcode is taken for a while. `%1` the seconds, in digits.
  case tryAgainIn
  /// The family has no passcode, so nobody can approve in person.
  case noPasscode

  // MARK: The guardian's bubble (R1, R2)

  /// The button that opens all details of a question.
  case review
  /// The button that closes the details without an answer.
  case notNow
  /// The title of the default approval (Q7).
  case approve
  /// The title of the default denial (Q7).
  case decline

  // MARK: States of a message (M4)

  /// It has not reached the relay yet.
  case sending
  /// The relay has it.
  case sent
  /// A guardian's device has it.
  case delivered
  /// A guardian read it.
  case read
  /// A guardian answered it.
  case answered

  // MARK: Lines of the conversation and notifications

  /// The child's notification of a decision (R5). `%1` who decided, `%2` the title of the choice.
  case decidedNotice
  /// The line that shows everybody who decided what. `%1` the guardian, `%2` the choice's title.
  case decidedLine
  /// The line that reminds of an open question. `%1` the child.
  case reminderLine
  /// The line that says that the question is cancelled. `%1` the child.
  case cancelledLine
  /// The line that says that nobody can answer any more (R8).
  case expiredLine
  /// Another guardian was first (R3). `%1` that guardian, `%2` the title of the choice.
  case alreadyAnswered
  /// The child's notification that a permission is withdrawn (R9). `%1` the guardian, `%2` the
  /// person or app.
  case withdrawnNotice
  /// The notification of a text message. `%1` its author.
  case newMessage

  // MARK: Pictures (S2)

  /// Stands in place of a picture that may be sensitive.
  case sensitivePicture
  /// The button that shows it nevertheless.
  case showPicture

  // MARK: Significant updates (Q5)

  /// The text of the child's first prompt about an app that changed. `%1` the app, `%2` the app's
  /// description.
  case updatePrompt
  /// Tells an adult of the change. `%1` the app, `%2` the app's description.
  case updateNotice
  /// The button that takes note of it.
  case acknowledge

  // MARK: Age ranges (D6)

  /// Asks the person whether to share the age range. `%1` the app, `%2` the range.
  case agePrompt
  /// The button that shares it.
  case shareAge
  /// The button that does not.
  case dontShareAge
  /// The notification that a new range was shared. `%1` the app, `%2` the range.
  case ageSharedNotice
  /// A guardian is needed to change the settings for sharing on a child's device (D7).
  case ageSettingsPrompt
  /// A range with two bounds, of ages in years. `%1` the lower, `%2` the upper, in digits.
  case ageBetween
  /// A range without a lower bound. `%1` the upper.
  case ageUpTo
  /// A range without an upper bound. `%1` the lower.
  case ageFrom
  /// A range without bounds.
  case ageAny

  // MARK: Everything else that a device says to its owner

  /// The line that shows what was decided in person. `%1` the device's owner, `%2` the choice's title.
  case inPersonLine
  /// The title above the open questions.
  case openQuestions
  /// There are none.
  case noOpenQuestions
  /// The title above the known handles of a child (K1).
  case knownContacts
  /// There are none.
  case noKnownContacts
  /// These are known from now on. `%1` the handles.
  case contactsAdded
  /// These are not known any more. `%1` the handles.
  case contactsRemoved
  /// Communication limits are on (F6). `%1` the child.
  case limitsOn
  /// Communication limits are off (F6). `%1` the child.
  case limitsOff
  /// The title above what can be withdrawn (R9).
  case withdrawFrom
  /// Stands for a picture. `%1` its type, `%2` its size.
  case picture
  /// A birthdate was set or corrected (F5). `%1` the child, `%2` the day.
  case birthdateSet
  /// A child has an account in the family (F4). `%1` the child.
  case childAdded
  /// Asks a guardian for a new passcode (A4).
  case newPasscode
  /// Asks for it once more.
  case passcodeAgain
  /// What was typed the second time is something else.
  case passcodesDiffer
  /// The passcode is too short or too long.
  case passcodeLength
  /// The family has a new passcode.
  case passcodeSet
  /// Whose device it is. `%1` the person.
  case youAre
  /// What was typed is none of the numbers. `%1` the last number.
  case chooseNumber
  /// The device has reached the relay.
  case connected
  /// It has not.
  case notConnected
  /// The relay does not know the device.
  case notInFamily
  /// Something was refused. `%1` the problem's number.
  case notDone
}
