public import FamilyModel

/// A command in the form that the relay receives: sealed and signed.
public struct SignedCommand: Sendable {
  /// The command's id, which makes retries harmless.
  public var id: CommandID
  /// The command with its content sealed.
  public var command: Command
  /// This device's signature; `nil` for a device without ``Security``.
  public var signature: Signature?
}
