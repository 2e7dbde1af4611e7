public import FamilyModel

/// One thing that happened, as somebody outside of the system can see it.
public enum Fact: Hashable, Sendable {
  // MARK: commands

  /// The command is in the durable outbox of the device: from now on no crash loses it (A3).
  case issued(DeviceAddress, CommandID)
  /// The sender was told that the command is the event `seq`.
  case acknowledged(DeviceAddress, CommandID, seq: UInt64)
  /// The sender was told that the command changes nothing.
  case refused(DeviceAddress, CommandID, Problem)

  // MARK: events on devices

  /// Bytes that the device can open hold this event.
  case received(DeviceAddress, Audience, seq: UInt64)
  /// The device applied the event, and that is durable there.
  case applied(DeviceAddress, Audience, seq: UInt64, CommandID)
  /// The device shows the decision. What a device that starts shows again is told by `restored`.
  case decided(DeviceAddress, QuestionID, choice: String)
  /// The device started from its disk, which holds these events of the audience, up to the cursor.
  case restored(DeviceAddress, Audience, [UInt64], cursor: UInt64)
  /// The device's disk lost what was not synced, or all of it: what it promised is not owed any more.
  case forgot(DeviceAddress)

  // MARK: apps

  /// The app listens, and may be launched for what comes (R7).
  case registered(AppAddress)
  /// The app was told that its question goes out.
  case sent(AppAddress, QuestionID)
  /// The app has these known handles now.
  case knows(AppAddress, [Handle])
  /// The app's code handled the response.
  case handled(AppAddress, QuestionID, choice: String)
  /// That the app's code handled the response is durable in the app.
  case settled(AppAddress, QuestionID)
  /// The app's disk lost what was not synced, or all of it; or its device's did.
  case appForgot(AppAddress)

  // MARK: ages

  /// The app asked for the age range between these gates.
  case askedAge(AppAddress, [Int32])
  /// The person agreed on this device that the app is told.
  case agreed(AppAddress)
  /// The app was told this range.
  case ageTold(AppAddress, AgeRange)
  /// The device has the person's birthdate, opened.
  case holdsBirthdate(DeviceAddress, PersonID)
  /// What the device remembers at the end that the app was told about the person's age.
  case remembersAge(DeviceAddress, PersonID, AppID, AgeMemory)

  // MARK: the run

  /// Something was broken on purpose.
  case fault(String)
  /// From here on nothing is broken any more.
  case healed
  /// After the healing the system came to rest: nothing is under way any more.
  case converged
  /// After the healing something was still under way when the time was over.
  case stuck(String)
  /// The relay's store at the end of the run has this event; its content is opened where that is possible.
  /// In the order of the log.
  case stored(FamilyID, Event)
  /// The relay's store has been read to its end.
  case storeRead
}
