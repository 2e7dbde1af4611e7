public import FamilyModel

/// An observation of the system from outside.
public enum Fact: Hashable, Sendable {
  // MARK: commands

  /// The command is in the device's durable outbox. From now on no crash loses it.
  case issued(DeviceAddress, CommandID, OutboxEntry = OutboxEntry())
  /// The sender learned that the command became event `seq`.
  case acknowledged(DeviceAddress, CommandID, seq: UInt64)
  /// The sender learned that the relay refused the command.
  case refused(DeviceAddress, CommandID, Problem)

  // MARK: events on devices

  /// The device received the event in bytes that it can open.
  case received(DeviceAddress, Audience, seq: UInt64)
  /// The device applied the event durably.
  ///
  /// The command is `nil` where the device keeps the position only, as of a report of the web.
  case applied(DeviceAddress, Audience, seq: UInt64, CommandID?)
  /// The device shows the decision. Decisions shown again after a restart are covered by
  /// `restored`.
  case decided(DeviceAddress, QuestionID, choice: String)
  /// The device restarted from a disk with these events of the audience, up to the cursor.
  case restored(DeviceAddress, Audience, [UInt64], cursor: UInt64)
  /// The device's disk lost unsynced or all data. The device's promises are void.
  case lostState(DeviceAddress)

  // MARK: apps

  /// The app registered, so that its device may launch it for responses.
  case registered(AppAddress)
  /// The app learned that its question is in the outbox.
  case sent(AppAddress, QuestionID)
  /// The app requested to learn about these handles.
  case names(AppAddress, [Handle])
  /// The app's known handles are now these. The device has confirmed the named ones.
  case knows(AppAddress, [Handle], named: [Handle])
  /// The app handled the response.
  case handled(AppAddress, QuestionID, choice: String)
  /// The app stored durably that it handled the response.
  case consumed(AppAddress, QuestionID)
  /// The disk of the app or of its device lost unsynced or all data.
  case appLostState(AppAddress)

  // MARK: ages

  /// The app requested an age range with these gates.
  case requestedAge(AppAddress, [Int32])
  /// The person consented on this device to share the age with the app.
  case consented(AppAddress)
  /// The app received this range.
  case ageShared(AppAddress, AgeRange)
  /// The device has opened the person's birthdate.
  case holdsBirthdate(DeviceAddress, PersonID)
  /// At the end the device remembers these answers to the app about the person's age.
  case remembersAge(DeviceAddress, PersonID, AppID, AgeMemory)

  // MARK: dishonest members

  /// The device belongs to a dishonest member.
  case dishonest(DeviceAddress)
  /// The dishonest device sent a command, with these bytes of a signature, that no reader may count.
  case forged(DeviceAddress, CommandID, [UInt8])
  /// At the end the honest device counts these events of the audience.
  case verified(DeviceAddress, Audience, [UInt64])
  /// A participant achieved what no rule permits.
  case breach(String)

  // MARK: statements and views

  /// The device belongs to the person and signs with the key. Recorded before the family exists.
  case belongs(DeviceAddress, PersonID, signingKey: [UInt8])
  /// The administrator signed the command with this device's key.
  case signs(DeviceAddress, CommandID)
  /// A guardian approved the handles for the child on this device: in one app or, `nil`, in all.
  case approves(DeviceAddress, child: PersonID, [Handle], in: AppID?)
  /// The roster that the device has verified now has these devices.
  case holdsRoster(DeviceAddress, [Device])
  /// At the end the device has verified these statements, in this order.
  case holds(DeviceAddress, [CommandName])
  /// At the end the device has this view of its family.
  case views(DeviceAddress, FamilyView)
  /// At the end the relay has this view of the family.
  case relayViews(FamilyID, FamilyView)
  /// The relay evaluated a child's guess of the passcode. The time is on the relay's clock.
  case guessed(FamilyID, [UInt8], at: Instant)
  /// The relay starts to count guesses from zero.
  case guessesReset(FamilyID)

  // MARK: the run

  /// A fault was injected.
  case fault(String)
  /// All faults have ended.
  case healed
  /// After the healing the system finished all work.
  case converged
  /// After the healing the system did not converge in time; the text names the unfinished work.
  case notConverged(String)
  /// The relay's store holds this event at the end of the run. Recorded in log order, with the
  /// content opened where possible.
  case stored(FamilyID, Event)
  /// All `stored` facts are recorded.
  case storeRead
}
