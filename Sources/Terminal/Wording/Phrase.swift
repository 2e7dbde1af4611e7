/// A fixed text of the system, which `Wording` provides in a language. `%1` and `%2` are arguments.
public enum Phrase: String, CaseIterable, Sendable {
  // MARK: The child's prompt and compose sheet

  /// The text of the child's first prompt: permission is needed. `%1` the app, `%2` the people.
  case permissionPrompt
  /// The line above a prompt that names the app's window. `%1` the window.
  case inWindow
  /// The button that asks with a message.
  case askByMessage
  /// The button that lets a guardian who is present decide on this device.
  case approveInPerson
  /// The button that closes a dialog without sending anything.
  case cancel
  /// The recipients of the message. `%1` the guardians.
  case composeTo
  /// The field for the name of a person. `%1` the handle.
  case addName
  /// The button that sends the message.
  case send

  // MARK: Repeated questions

  /// The text of the prompt when a question about the same people is open. `%1` the people.
  case alreadyAsked
  /// The text of the prompt when a question about the same site is open. `%1` the site.
  case siteAlreadyAsked
  /// The texts when a question about the same update, or for the authorization, is open. `%1` the app.
  case updateAlreadyAsked, authorizationAlreadyAsked
  /// The buttons that remind the guardians of the open question, or close the prompt.
  case remind, leaveIt

  // MARK: In-person answers

  /// Asks the guardian for the passcode.
  case enterPasscode
  /// The typed passcode is incorrect.
  case wrongPasscode
  /// Further attempts are blocked for a time. `%1` the seconds, in digits.
  case tryAgainIn
  /// An in-person answer is impossible: no passcode, or one in the form of an earlier version.
  case noPasscode, passcodeOutdated
  /// The passcode was not checked: too many attempts, or no connection to the relay.
  case passcodeLocked, passcodeNeedsRelay

  // MARK: The guardian's bubble

  /// The button that opens all details of a question.
  case review
  /// The button that closes the details without an answer.
  case notNow
  /// The title of the default approval, and the meaning of every approval.
  case approve
  /// The title of the default denial, and the meaning of every denial.
  case decline
  /// A choice of the app. `%1` the meaning, `%2` the app's title.
  case choiceTitle

  // MARK: Delivery states of a message

  /// The relay has not acknowledged the message.
  case sending
  /// The relay has stored the message.
  case sent
  /// A guardian's device has received the message.
  case delivered
  /// A guardian has read the message.
  case read
  /// A guardian has answered the question.
  case answered

  // MARK: Lines of the conversation and notices

  /// The child's notice of a decision. `%1` the guardian, `%2` the title of the choice.
  case decidedNotice
  /// The conversation's line about a decision. `%1` the guardian, `%2` the choice's title.
  case decidedLine
  /// The line that reminds of an open question. `%1` the child.
  case reminderLine
  /// The lines about a cancelled question, and about an event of a later version. `%1` the author.
  case cancelledLine, newerLine
  /// The line about an expired question.
  case expiredLine
  /// Another guardian answered first. `%1` that guardian, `%2` the title of the choice.
  case alreadyAnswered
  /// The child's notice of a withdrawal. `%1` the guardian, `%2` the person or app.
  case withdrawnNotice
  /// The guardian and the app.
  case consentGivenNotice
  /// The time at which an approval ends.
  case until
  /// The notice of a text message. `%1` the author.
  case newMessage

  // MARK: Pictures

  /// The warning that replaces a picture that may be sensitive.
  case sensitivePicture
  /// The button that shows a picture despite the warning.
  case showPicture

  // MARK: Significant updates, sites, and authorizations
  /// The text of the child's first prompt about an update. `%1` the app, `%2` its description.
  case updatePrompt
  /// The text of the child's first prompt about a site. `%1` the app, `%2` the site.
  case sitePrompt
  /// The text of the child's first prompt about the authorization of an app. `%1` the app.
  case authorizationPrompt
  /// The text that informs an adult of an app's update. `%1` the app, `%2` the app's description.
  case updateNotice
  /// The button that acknowledges the update.
  case acknowledge

  // MARK: Age ranges

  /// Asks the person whether to share the age range. `%1` the app, `%2` the range.
  case agePrompt
  /// The button that shares the age range.
  case shareAge
  /// The button that refuses to share the age range.
  case dontShareAge
  /// The notice that a new range was shared. `%1` the app, `%2` the range.
  case ageSharedNotice
  /// Age ratings have risen. `%1` the app, `%2` the rating, or `%1` the child, `%2` the apps.
  case ratingRaised, ratingsRaised
  /// A guardian must confirm changed sharing settings on a child's device.
  case ageSettingsPrompt
  /// A range with two bounds, of ages in years. `%1` the lower, `%2` the upper, in digits.
  case ageBetween
  /// A range without a lower bound. `%1` the upper.
  case ageUpTo
  /// A range without an upper bound. `%1` the lower.
  case ageFrom
  /// A range without bounds.
  case ageAny
  /// The sharing setting of a person. `%1` the setting.
  case ageSetting
  /// Apps receive the age range without a prompt.
  case ageSettingAlways
  /// The device prompts the person before it shares an age range.
  case ageSettingAsk
  /// Apps receive no age range.
  case ageSettingNever
  /// No app has received an answer about the age. `%1` the person.
  case ageNone
  /// An app's request was declined.
  case ageNotShared
  /// The day of an age answer. `%1` the day.
  case ageSince
  /// The next day on which an age answer can change. `%1` the day.
  case ageUntil
  /// The law of the person's region requires sharing.
  case ageByLaw
  /// A sandbox case answers for the person. `%1` the case.
  case ageSandbox

  // MARK: A device's other texts

  /// The line about an in-person answer. `%1` the device's owner, `%2` the choice's title.
  case inPersonLine
  /// The titles above the open questions and a child's known handles, and texts for empty lists.
  case openQuestions, noOpenQuestions, knownContacts, noKnownContacts
  /// The titles above a child's apps and use of the web, and the texts without any. `%1` the child.
  case appsTitle, appsNone, webTitle, webNone
  /// The app has no rating, or one above the ceiling. An app has deleted a part of a day's use.
  case appNotRated, appAboveCeiling, webShortened
  /// The device with an app. `%1` the device's number, `%2` the time of the first report.
  case appOnDevice
  /// The notice of new known handles. `%1` the handles.
  case contactsAdded
  /// The notice of handles that are no longer known. `%1` the handles.
  case contactsRemoved
  /// Communication limits are on. `%1` the child.
  case limitsOn
  /// Communication limits are off. `%1` the child.
  case limitsOff
  /// The title above the approvals that can be withdrawn.
  case withdrawFrom
  /// The description of a clean picture. `%1` its type, `%2` its size.
  case picture
  /// A birthdate was set or corrected. `%1` the child, `%2` the day.
  case birthdateSet
  /// A child was added to the family. `%1` the child.
  case childAdded
  /// Asks a guardian for a new passcode.
  case newPasscode
  /// Asks for the new passcode again.
  case passcodeAgain
  /// The two typed passcodes differ, or a passcode is too short or too long.
  case passcodesDiffer, passcodeLength
  /// The family has a new passcode, or its passcode could not be changed.
  case passcodeSet, passcodeNotSet
  /// The device's owner. `%1` the person.
  case youAre
  /// The typed line is not a number of the menu. `%1` the last number.
  case chooseNumber
  /// The device has connected to the relay.
  case connected
  /// The device has no connection to the relay.
  case notConnected
  /// The relay does not know the device.
  case notInFamily
  /// The relay refused a command. `%1` the problem's number.
  case notDone

  // MARK: Commands in a terminal

  /// How to list the commands.
  case helpHint
  /// The typed line is not a command. `%1` the line.
  case unknownCommand
  /// The command needs the number of an open question. `%1` the numbers.
  case chooseRequest
  /// No member, child or device matches; a list follows. `%1` the typed name or number.
  case notFound
  /// The pictures could not be written to files.
  case picturesNotSaved
  /// How a new device joins. `%1` the command to run there.
  case joinInstruction
  /// A device uses an invitation's code. `%1` the device's owner.
  case deviceJoins
  /// A member's devices. `%1` their numbers.
  case devices
  /// A member has no devices.
  case noDevices
  /// The role of the organizer.
  case roleOrganizer
  /// The role of a guardian.
  case roleGuardian
  /// The role of a child.
  case roleChild
  /// The role of another adult.
  case roleAdult

  // MARK: The list of commands: the effect of each

  /// Posts a message.
  case helpPost
  /// Lists contacts and questions.
  case helpList
  /// Sets whether age ranges are shared.
  case helpAge
  /// Clears an app's age answers.
  case helpForgetAge
  /// Lists what apps learned about the age, the apps, or the use of the web.
  case helpAges, helpApps, helpWeb
  /// Sets a sandbox case.
  case helpSandbox
  /// Sets the age rating's ceiling.
  case helpCeiling
  /// Shows the conversation again.
  case helpShow
  /// Ends the session.
  case helpQuit
  /// Cancels a question.
  case helpCancel
  /// Reviews a question.
  case helpReview
  /// Declines a question.
  case helpDecline
  /// Saves a question's pictures.
  case helpPictures
  /// Selects a child.
  case helpWith
  /// Adds or removes a contact.
  case helpContact
  /// Withdraws an approval.
  case helpWithdraw
  /// Withdraws consent for an app.
  case helpWithdrawConsent
  /// Gives consent for an app back.
  case helpGiveConsent
  /// Switches communication limits.
  case helpLimits
  /// Sets a birthdate.
  case helpBirthdate
  /// Lists the family's members.
  case helpFamily
  /// Adds a member.
  case helpAdd
  /// Invites a device.
  case helpInvite
  /// Removes a device.
  case helpRemoveDevice
  /// Removes a member.
  case helpRemoveMember
  /// Sets the passcode.
  case helpPasscode

  // MARK: Why a handle is known or not

  /// The handle is known. `%1` the handle, `%2` the app.
  case explainKnown
  /// The handle is not known. `%1` the handle, `%2` the app.
  case explainUnknown
  /// The text is no handle. `%1` the problem’s number.
  case ruleNotAHandle
  /// No request is about the handle.
  case ruleNeverAsked
  /// A request waits in the outbox.
  case ruleSending
  /// A request is open. `%1` its time.
  case ruleWaiting
  /// A request expired. `%1` the time.
  case ruleExpired
  /// The last request was cancelled. `%1` its time.
  case ruleCancelled
  /// A guardian approved. `%1` the guardian, `%2` the time.
  case ruleApproved
  /// An approval has ended. `%1` the guardian, `%2` the time.
  case ruleApprovalEnded
  /// A guardian declined. `%1` the guardian, `%2` the time.
  case ruleDeclined
  /// A guardian withdrew the approval. `%1` the guardian, `%2` the time.
  case ruleWithdrawn
  /// A guardian added the contact. `%1` the guardian, `%2` the time.
  case ruleContact
  /// A guardian removed the contact. `%1` the guardian, `%2` the time.
  case ruleContactRemoved
  /// Some requests cannot be opened here.
  case ruleUnreadable
  /// Communication limits are off.
  case ruleLimitsOff
  /// A guardian withdrew consent to the app. `%1` the guardian, `%2` the time.
  case ruleConsentWithdrawn
  /// The app is rated above the ceiling.
  case ruleRatedAbove
  /// The app has not acknowledged the newest change, or never registered for updates.
  case ruleNotTaken, ruleNeverListened
  /// The app has not named the handle.
  case ruleNotNamed
  /// The name is known in another app only. `%1` the app.
  case nearOtherApp
  /// A similar handle is known. `%1` that handle.
  case nearOther
  /// When the answer changes by time alone. `%1` the time.
  case changesAt
  /// Explains a handle.
  case helpExplain

  // MARK: Notifications

  /// The title of the list of notifications.
  case notifications
  /// The list of notifications is empty.
  case noNotifications
  /// Notifications are unread. `%1` their number.
  case unreadNotifications
  /// Lists notifications.
  case helpNotices
  /// Dismisses notifications.
  case helpDismiss
  /// Desktop notifications without names: of a decision, on a child's or other device; of a device.
  case desktopDecided, desktopDecidedGuardian, desktopDevice
  /// The same of a withdrawal, a shared age range, a message, a reminder, and a risen rating.
  case desktopWithdrawn, desktopAgeShared, desktopMessage, desktopReminded, desktopRating

  // MARK: The family, and the set-up of a child's account

  /// The typed command lacks a word, or has a wrong one. Its forms follow.
  case usageHint
  /// A member has the typed name already. `%1` the name.
  case nameTaken
  /// The relay has another key than the one of the device's credential.
  case otherRelay
  /// The relay has not accepted an invitation yet, so no code is shown.
  case codeWaits
  /// The organizer's last device cannot be removed.
  case lastOrganizerDevice
  /// The organizer cannot be removed from the family. `%1` the organizer.
  case organizerStays
  /// Asks before a guardian removes the device in use.
  case removeOwn
  /// A member left the family. `%1` the member.
  case memberRemoved
  /// The title of a child's set-up. `%1` the child.
  case onboardTitle
  /// Explains age ranges to a guardian.
  case onboardExplain
  /// Asks for a child's birthdate. `%1` the child.
  case onboardBirthdate
  /// The typed text is not a birthdate. `%1` the text.
  case invalidBirthdate
  /// Asks whether apps receive a child's age range. `%1` the child.
  case onboardSharing
  /// Asks whether a child's device joins now. `%1` the child.
  case onboardDevice
  /// A child's set-up is complete, or not yet. `%1` the child, `%2` the command that continues.
  case onboardDone, onboardLeft
  /// The device lacks the keys of some messages. `%1` their number.
  case cannotOpen
  /// Buttons of these dialogs.
  case remove, confirm, change, showCode, later
  /// Age ranges are shared without a prompt, after asking the child, or never.
  case sharingAlways, sharingAsk, sharingNever
  /// A device joined or left the family. `%1` the owner, `%2` the device's number.
  case deviceAdded, deviceRemoved
  /// Sets up a child's account, or sets the own birthdate.
  case helpOnboard, helpOwnBirthdate
}
