/// A deliberate defect that a checker must find: each mutant disables one safeguard.
///
/// The machines are unchanged. A mutant sits in the simulated disk or shell.
public enum Mutant: String, CaseIterable, Sendable {
  /// The relay replies before its commit is synced.
  case fsync
  /// The relay takes a failed sync for a success.
  case syncError = "sync-error"
  /// The relay and its store accept a repeated command as a new one.
  case dedupe
  /// The relay loads a family from its snapshot without the events after it.
  case snapshotTail = "snapshot-tail"
  /// A device writes an event and its cursor in separate transactions.
  case cursorTransaction = "cursor-transaction"
  /// The relay forgets the answers of a family when it loads the family.
  case firstAnswer = "first-answer"
  /// The relay approves every subscription.
  case subscriptionCheck = "subscription-check"
  /// A device or app carries out effects before its transaction is synced.
  case deviceFsync = "device-fsync"
  /// A device keeps its outbox only in memory.
  case outbox
  /// The relay evicts no family.
  case eviction
  /// No shell reports to its machine that the clock was set back.
  case clockSetBack = "clock-set-back"
  /// A device stores only the positions of settings: passcodes and limits.
  case settings
  /// A device's snapshots have the state of its first one, and cover the later events.
  case deviceSnapshot = "device-snapshot"
  /// The relay keeps the count of a passcode's guesses only in memory.
  case guessCount = "guess-count"
  /// Signatures of devices are not verified.
  case signatures
  /// Contents are opened although they were sealed under another key, or for another event.
  case seals
  /// Devices keep an invalid content as that of a later version.
  case contents
  /// A device acknowledges an event before it has stored it.
  case acknowledgement
  /// A device shares the age range with apps without the person's consent.
  case ageConsent = "age-consent"
  /// A device counts a repeated message about the use of the web again.
  case webMessages = "web-messages"
  /// A device forgets at a restart that an activity has started.
  case activityMoments = "activity-moments"
}
