/// A problem's line in the table: its meaning, its cause and the next step, for people.
public struct ProblemEntry: Hashable, Sendable {
  /// The problem's number.
  public let code: UInt16
  /// The meaning in a few words.
  public let name: String
  /// The usual cause, in one or two sentences.
  public let cause: String
  /// The next step, in one or two sentences.
  public let nextStep: String

  fileprivate init(_ code: UInt16, _ name: String, _ cause: String, _ nextStep: String) {
    self.code = code
    self.name = name
    self.cause = cause
    self.nextStep = nextStep
  }
}

extension Problem {
  /// The problem's line in ``table``; `nil` for a number of a later version.
  public var entry: ProblemEntry? { Problem.entries[code] }

  private static let entries = Dictionary(uniqueKeysWithValues: table.map { ($0.code, $0) })

  /// All problems, ascending. The document of problems shows the same lines.
  public static let table: [ProblemEntry] = [
    ProblemEntry(
      100, "malformed message",
      "The bytes are not a message of this protocol.",
      "Update both programs to the same version."),
    ProblemEntry(
      101, "newer protocol version",
      "The receiver is older than the sender, and does not know the protocol's version.",
      "Update the receiver. Update relays before devices."),
    ProblemEntry(
      102, "too large",
      "The message, or a part of it, is above a limit.",
      "Make the part smaller. docs/Operations.md lists the limits."),
    ProblemEntry(
      103, "unknown request",
      "The receiver is older than the sender and does not know this kind of request.",
      "Update the receiver."),
    ProblemEntry(
      104, "outdated protocol version",
      "The sender is more than one version of the protocol older than the receiver.",
      "Update the sender."),
    ProblemEntry(
      200, "not enrolled",
      "The relay does not know the device. A guardian removed it, or another relay issued "
        + "its credential.",
      "A guardian invites the device again: `relayctl invite NAME`, then `child-agent join` "
        + "or `parent-agent join`."),
    ProblemEntry(
      201, "not permitted",
      "The role of the sender does not allow the request.",
      "Use a guardian's credential. Only the organizer's devices change the organizer's "
        + "devices."),
    ProblemEntry(
      202, "not a child",
      "The device of an adult asked a question. Only children ask.",
      "Run the app on a child's device. An adult acknowledges an update instead."),
    ProblemEntry(
      203, "no proof of the passcode",
      "The answer in person carries no valid proof of the Screen Time passcode.",
      "Type the family's current passcode again. `relayctl passcode` sets a new one."),
    ProblemEntry(
      204, "not signed by an authorized device",
      "An event or a command has no valid signature of a device that may decide it.",
      "Nothing was changed. Report the problem: an honest relay and honest devices do not "
        + "cause it."),
    ProblemEntry(
      205, "replayed",
      "The command was already applied at another position of the family's log.",
      "Nothing was changed. Report the problem: an honest relay does not repeat commands."),
    ProblemEntry(
      206, "cannot be decrypted",
      "The content was modified, or this device lacks its key.",
      "Keep a guardian's device online for a moment, so that it shares the key."),
    ProblemEntry(
      207, "contradicts its sealed content",
      "The readable part of an event differs from its sealed part.",
      "Nothing was changed. Report the problem: an honest device does not cause it."),
    ProblemEntry(
      208, "different family than the first",
      "The app's store belongs to another child or another family.",
      "Give each child's device its own folder (`child-agent --directory`)."),
    ProblemEntry(
      209, "the proof of the passcode is too old",
      "The passcode was typed too long before the relay received the command.",
      "Type the passcode again while the relay is reachable."),
    ProblemEntry(
      210, "two histories",
      "The relay showed two histories of the family, or its store was restored from a copy. Or a "
        + "device showed an app other rosters than before.",
      "The device reads the history again. Ask the relay's operator. Compare the family's "
        + "members and the known handles on two devices."),
    ProblemEntry(
      211, "events are withheld",
      "For a minute, the relay did not send an event that another device of the family has read.",
      "The device fetches the event again, and does not act on later ones until then. If the "
        + "problem persists, ask the relay's operator."),
    ProblemEntry(
      212, "no news of a guardian",
      "For 3 days, this device has received nothing that another guardian's device signed, "
        + "although the relay answers.",
      "Nothing was changed. Check that another guardian's device is on. If one is, the relay may "
        + "withhold messages: ask its operator."),
    ProblemEntry(
      220, "invalid key share",
      "A key share names a device that may not read the audience, or names one twice.",
      "Programs share a new key by themselves. Report the problem if it persists."),
    ProblemEntry(
      221, "too many keys",
      "A device made more than \(Limits.keysPerMaker) content keys, and one for each week, for one "
        + "audience.",
      "Remove the device if it was modified, and invite it again. A removal also resets the "
        + "count for the other devices."),
    ProblemEntry(
      222, "weak key",
      "A public key is one of a few values whose secrets everyone knows.",
      "Create new keys: invite the device again. An honest program never makes such a key."),
    ProblemEntry(
      223, "cannot be opened yet",
      "Another device did not share the key of a message with this device.",
      "The device has asked for the key. Keep another device of the family online for a moment."),
    ProblemEntry(
      300, "empty handle",
      "The question has no person, or a handle is empty.",
      "Give each person a handle with at least one visible character."),
    ProblemEntry(
      301, "handle too long",
      "A handle is longer than \(Limits.handleBytes) bytes.",
      "Shorten the handle."),
    ProblemEntry(
      302, "default choice is not one of the choices",
      "The question's default choice is missing among its choices.",
      "Choose the default from the question's own choices."),
    ProblemEntry(
      303, "invalid choices",
      "The question has no choices, more than \(Limits.choices), or two with one id.",
      "Give 1 to \(Limits.choices) choices with distinct ids."),
    ProblemEntry(
      304, "expiration in the past",
      "The expiration is not later than now.",
      "Choose a later expiration, and check the clock."),
    ProblemEntry(
      305, "image too large",
      "A picture is larger than \(Limits.avatarBytes) bytes.",
      "Make the picture smaller."),
    ProblemEntry(
      306, "invalid text",
      "A text, name, title or passcode is empty, too short or too long.",
      "A text has 1 to \(Limits.textBytes) bytes, a name 1 to \(Limits.titleBytes), and a "
        + "passcode \(Limits.passcodeLength.lowerBound) to \(Limits.passcodeLength.upperBound) "
        + "characters."),
    ProblemEntry(
      307, "too many",
      "A count is above its limit: people, devices, open questions, invitations, rules for "
        + "sites, or settings of a managing app.",
      "A family has at most \(Limits.persons) members and \(Limits.devices) devices. Wait "
        + "until open questions or invitations end."),
    ProblemEntry(
      308, "malformed family",
      "The family has not exactly one organizer, or two members or devices share a number.",
      "Give exactly one member the role of the organizer. The organizer cannot be removed."),
    ProblemEntry(
      309, "unsupported image format or size",
      "The picture's format is unsupported or not the declared one, or a side has more than "
        + "\(Limits.avatarPixels) pixels.",
      "Give a picture of its declared type with at most \(Limits.avatarPixels) pixels on "
        + "each side."),
    ProblemEntry(
      310, "invalid age gates",
      "The age gates are not one to three positive ages, ascending and two years apart.",
      "Give gates such as 13, 16 and 18."),
    ProblemEntry(
      311, "invalid birthdate",
      "The birthdate does not exist, is before 1900, or is in the future.",
      "Write a day in the past, such as 2014-05-17, and check the clock."),
    ProblemEntry(
      312, "invalid end of an approval",
      "The end of an approval is in the past, or later than ten years, or its choice makes "
        + "no handle known.",
      "Give an end in the future, for a choice that approves people."),
    ProblemEntry(
      320, "not a handle of its kind",
      "A phone number has no digits, an e-mail address has no domain, or a handle has "
        + "control characters.",
      "A phone number has \(Limits.phoneDigits.lowerBound) to "
        + "\(Limits.phoneDigits.upperBound) digits, an e-mail address has text around one @, "
        + "and a user name has no control characters."),
    ProblemEntry(
      400, "unknown person, question or choice",
      "The person, question or choice is not in the family.",
      "`relayctl family` lists the members, and `relayctl pending` the open questions."),
    ProblemEntry(
      401, "already answered",
      "Another answer came first, and the first answer counts.",
      "`relayctl pending` lists the open questions. `relayctl withdraw` withdraws an "
        + "approval."),
    ProblemEntry(
      402, "expired",
      "The question's expiration has passed.",
      "The child can ask again. `relayctl pending` lists the open questions."),
    ProblemEntry(
      403, "cancelled",
      "The child cancelled the question.",
      "The child can ask again. `relayctl pending` lists the open questions."),
    ProblemEntry(
      404, "already asked",
      "An open question already asks about the same people.",
      "Wait for its answer, or remind the guardians."),
    ProblemEntry(
      405, "reminded recently",
      "The last reminder of the question is less than 15 minutes old.",
      "Wait, then remind again."),
    ProblemEntry(
      406, "communication limits are off",
      "The child's communication limits are off, so that no question is needed.",
      "`relayctl limits on` turns them on."),
    ProblemEntry(
      407, "already exists with different content",
      "The family, person, device or question exists with other content.",
      "Choose a new number or id, or apply the current family file."),
    ProblemEntry(
      408, "the family has no passcode",
      "No Screen Time passcode is set, so no guardian can decide on the child's device.",
      "A guardian sets one: `relayctl passcode`."),
    ProblemEntry(
      409, "the family has changed in the meantime",
      "Another guardian changed the family at the same time.",
      "Repeat the command."),
    ProblemEntry(
      410, "the app does not declare the use of age ranges",
      "The app's manifest does not declare the use of age ranges.",
      "Add `\"usesDeclaredAgeRange\": true` to the manifest that `child-agent --manifest` "
        + "reads."),
    ProblemEntry(
      411, "the app is rated above the child's ceiling",
      "The age rating in the app's manifest is above the ceiling that a guardian chose.",
      "`relayctl ceiling` changes the ceiling. An app without a rating counts as 18+."),
    ProblemEntry(
      412, "no age range is available",
      "The set-up of the account is unfinished: the birthdate is unknown.",
      "A guardian sets the birthdate: `relayctl birthdate`."),
    ProblemEntry(
      413, "the organizer's last device cannot be removed",
      "Without this device, no later change of the family's members and devices would be "
        + "possible.",
      "Invite another device of the organizer first: `relayctl invite NAME`."),
    ProblemEntry(
      414, "a guardian withdrew the consent to the app",
      "A guardian withdrew the consent to the app, so that the device restricts it.",
      "A guardian approves an update, or gives the consent back: `relayctl consent`."),
    ProblemEntry(
      415, "the device has no account",
      "The device knows no account of its owner.",
      "A guardian sets the birthdate: `relayctl birthdate`."),
    ProblemEntry(
      416, "the id of the command is taken",
      "The device has sent another command under the same id.",
      "Programs send the command again under a new id."),
    ProblemEntry(
      417, "the id of the command is ahead of the relay's clock",
      "The clock of the sender is more than 10 minutes ahead of the relay's clock.",
      "Programs repeat the command with the relay's time. If the problem stays, check both clocks."),
    ProblemEntry(
      418, "the device was removed",
      "The change would bring back a device that a guardian removed. Its keys never return.",
      "Invite the device again: `relayctl invite NAME`. The device makes new keys when it joins."),
    ProblemEntry(
      419, "a removal changes nothing else",
      "The change of the family removes a member or a device, and adds or changes another one. The "
        + "removed device would read the addition.",
      "Remove first, then add: programs of this version make two changes."),
    ProblemEntry(
      420, "the device does not answer",
      "The device's agent is stopped, or too slow.",
      "Start child-agent, and repeat the call. Its log and status.json show its state."),
    ProblemEntry(
      421, "another process of the app runs",
      "Another process of the app uses the app's store.",
      "End the other process, or leave the work to it."),
    ProblemEntry(
      422, "the process runs on no device",
      "The environment has no `PERMISSION_RELAY_DEVICE`.",
      "Set the variable to the credential file that child-agent wrote for this app."),
    ProblemEntry(
      423, "the app's store cannot be opened",
      "The credential file or the store beside it cannot be opened.",
      "Check the path in `PERMISSION_RELAY_DEVICE`, the folder's owner and mode, and the "
        + "free disk space."),
    ProblemEntry(
      424, "the app exceeds a limit of the device",
      "The app has too many open prompts or unhandled responses, or sends requests too fast.",
      "Ask one question at a time, and read `updates`. docs/Operations.md lists the limits."),
    ProblemEntry(
      425, "the family's storage is full",
      "The family, or the device, has as many bytes in the relay's store as the relay allows.",
      "Answers, cancellations and removals are still possible. Ask the relay's operator for a "
        + "larger quota, or remove the device that has written the most."),
    ProblemEntry(
      440, "the passcode must be set again",
      "The family's passcode has the form of an earlier version, or the relay lost its part, or "
        + "another guardian set a passcode at the same time.",
      "A guardian sets the passcode again: `relayctl passcode`."),
    ProblemEntry(
      441, "too many guesses of the passcode",
      "The family's devices guessed the passcode more than \(Limits.passcodeGuesses) times without "
        + "success.",
      "Wait for the time that the device shows, or ask by message. A new passcode ends the wait."),
    ProblemEntry(
      442, "the relay does not answer",
      "The device has no connection to the relay, which takes part in each check of the passcode.",
      "Check the connection and repeat, or ask by message."),
    ProblemEntry(
      450, "the child need not ask for the site, or may not",
      "The child's rules for the web open the site, or block it.",
      "A guardian changes the rule: `relayctl web-rule`."),
    ProblemEntry(
      451, "no guardian has authorized the app",
      "The app manages a child only while an authorization by a guardian is in force.",
      "The app asks with `AuthorizationCenter`, and a guardian approves."),
    ProblemEntry(
      452, "another app blocks the app",
      "An app that guardians authorized to manage the child blocks the app on this device.",
      "The other app removes the block, or a guardian withdraws its authorization: "
        + "`relayctl withdraw --authorization APP`."),
    ProblemEntry(
      453, "an app denies questions about people",
      "An app that guardians authorized to manage the child denies new people on this device.",
      "The other app permits new people, or a guardian withdraws its authorization: "
        + "`relayctl withdraw --authorization APP`."),
    ProblemEntry(
      454, "the interval of the activity is too short or too long",
      "An app watches an activity for 15 minutes at least, and for 7 days at most.",
      "Choose another end of the schedule."),
    ProblemEntry(
      455, "the interval of the activity is over",
      "The interval ended before the device received it.",
      "Watch the next interval of the schedule."),
    ProblemEntry(
      460, "pictures are not checked",
      "The child's communication safety is off, or the person is no child.",
      "Show the picture unchecked. A guardian turns the check on: `relayctl communication-safety`."
    ),
    ProblemEntry(
      461, "too many pictures at the same time",
      "The app has more pictures checked at the same time than the device or the library allows.",
      "Treat the picture as sensitive, and check it again when earlier checks have ended."),
    ProblemEntry(
      462, "the check of the picture has no verdict",
      "The content worker is undecided, too slow, stopped or not running.",
      "Treat the picture as sensitive. Check that content-worker runs, and repeat the call."),
    ProblemEntry(
      463, "the device has no content worker",
      "The device's agent runs without a worker that checks pictures.",
      "Treat the picture as sensitive. Start child-agent with `--content-worker`."),
    ProblemEntry(
      464, "the video cannot be read",
      "The file is no supported video, it is damaged, or its decoder ended or was too slow.",
      "Treat the video as sensitive. Convert it to H.264 in MP4, or to VP9 in WebM."),
    ProblemEntry(
      465, "there is no decoder of pictures and videos",
      "The device's programs lack content-decoder, or the app may not start it.",
      "Treat the picture or video as sensitive. Install content-decoder beside child-agent."),
    ProblemEntry(
      500, "overloaded",
      "The relay has more work than it can do.",
      "Nothing was changed. Programs retry at the time that the relay names."),
    ProblemEntry(
      501, "store failed",
      "The relay cannot write its store.",
      "Nothing was changed. Make room on the relay's disk; devices send their commands again."),
    ProblemEntry(
      502, "rate limit exceeded",
      "The device, or its family, sends more requests than allowed.",
      "Programs retry at the time that the relay names. Check for a program that repeats "
        + "requests."),
    ProblemEntry(
      503, "the store is damaged",
      "The store no longer holds the data that was written to it.",
      "A relay refuses the damaged families, and serves all others. Repair its store, or restore a copy, "
        + "as docs/Operations.md describes. Start an agent with --salvage."),
  ]
}
