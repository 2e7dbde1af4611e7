/// A safeguard that a run does without, to see that its absence is found.
///
/// The machines stay as they are: a mutant sits in the simulated disk, or between the relay's machine and
/// its shell.
public enum Mutant: String, CaseIterable, Sendable {
  /// The relay says yes before its commit is synced.
  case fsync
  /// The relay takes a repeated command for a new one, and the store does not object.
  case dedupe
  /// The relay takes a family's snapshot for all of its history.
  case snapshotTail = "snapshot-tail"
  /// A device writes its cursor in one transaction and the event in another.
  case cursorTransaction = "cursor-transaction"
  /// The relay accepts an answer to a question that is answered.
  case firstAnswer = "first-answer"
  /// The relay lets everybody listen to every channel.
  case subscriptionCheck = "subscription-check"
  /// A device, or an app, goes on before its transaction is synced.
  case deviceFsync = "device-fsync"
  /// A device keeps its outbox in memory.
  case outbox
  /// No shell tells its machine that the clock was set back.
  case clockSetBack = "clock-set-back"
  /// A device tells apps the age range without asking the person.
  case ageConsent = "age-consent"
}
