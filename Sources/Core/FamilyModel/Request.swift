/// The sequence number up to which a device has applied an audience's events.
public struct Cursor: Hashable, Sendable {
  /// The audience whose events are counted.
  public var audience: Audience
  /// The last event that the device applied.
  public var delivered: UInt64
  /// The last event that the person has seen; never above `delivered`.
  public var read: UInt64
  /// Creates a cursor of `audience`.
  public init(_ audience: Audience, delivered: UInt64, read: UInt64 = 0) {
    self.audience = audience
    self.delivered = delivered
    self.read = read
  }
}

/// A message from a device to the relay.
public enum Request: Hashable, Sendable {
  /// Appends an event. The signature is the device's or, from the administrator, that of the device
  /// for which it acts.
  case command(CommandID, Command, Signature? = nil)
  /// Opens a session and sends the device's cursors.
  case attach([Cursor])
  /// Requests the audience's events after `after`.
  case fetch(Audience, after: UInt64)
  /// Moves the device's cursors. There is no reply.
  case acknowledge([Cursor])
  /// Checks that the relay answers.
  case ping
  /// Announces this device and others with the same key on this connection. One `pong` answers for
  /// all. A device that lacks events receives its channels in an unsolicited reply.
  case present([DeviceAddress])
  /// Asks to join a family with a code. The device repeats the request until the reply names its
  /// id.
  indirect case join(JoinRequest)
  /// Asks for the evaluation of a blinded passcode. `isNew`: under a new secret, for the passcode
  /// that a guardian sets next. Otherwise the evaluation counts as one guess.
  case evaluate([UInt8], isNew: Bool)
}

/// The relay's answer to one request.
public enum Reply: Hashable, Sendable {
  /// The command is durable as the event `seq`. A repeated command gets the same reply.
  case accepted(CommandID, seq: UInt64)
  /// The command changed nothing.
  case refused(CommandID, Problem)
  /// The channels that the device may subscribe to, and the relay's clock.
  case attached([Channel], at: Instant = Instant(milliseconds: 0))
  /// A page of events; `more` means that further events need another fetch.
  case page(Audience, [Event], more: Bool)
  /// The relay is alive and the device lacks nothing.
  case pong
  /// The relay keeps the join request. The id is zero until a guardian's device has signed a roster
  /// with the new device.
  case joined(DeviceID)
  /// The evaluation of a blinded passcode.
  case evaluated(PasscodeEvaluation)
  /// The relay refused a request that is not a command.
  case failed(Problem)
}

extension Reply {
  /// The page without the events after `upTo`, which were appended after the request that the page
  /// answers.
  public static func page(_ audience: Audience, _ events: [Event], more: Bool, upTo: UInt64)
    -> Reply
  {
    let kept = events.prefix { $0.seq <= upTo }
    return .page(audience, Array(kept), more: more && kept.count == events.count)
  }
}
