public import History

/// A dishonest participant of a run, which does anything that its own keys allow until the healing.
///
/// An adversary draws its choices from ``World/dishonesty``, so that a run without one stays the same.
public enum Adversary: String, CaseIterable, Sendable {
  /// The relay, which has no member's key.
  case relay
  /// The device of a child.
  case child
  /// The device of a guardian who is not the organizer.
  case guardian
  /// A device of the organizer.
  case organizer
  /// The device of an adult who is no guardian.
  case adult
  /// A device of any role that a guardian removes. The device continues with its old keys.
  case removed

  /// The checkers whose properties hold despite this adversary.
  ///
  /// A dishonest relay loses what it acknowledged, shows its own order and decides questions
  /// differently for different devices. The store at the end may lack all of that, so the checkers
  /// that compare devices with this store do not apply.
  ///
  /// ``HandledOnce`` does not hold yet. An event of another history replaces the record of a verified
  /// event at its position. After a restart, the device then reads the verified event as new.
  public var checkers: [any Checker] {
    switch self {
    case .relay:
      [
        RightfulEvents(), HandlesApproved(), NobodyReturns(), NothingForged(), Converges(),
      ]
    case .child, .guardian, .organizer, .adult, .removed:
      History.checkers + [DishonestyContained()]
    }
  }
}
