public import Credentials
public import FamilyCore
public import FamilyModel
public import Foundation

/// The administrator's blocking connection to a running relay.
public struct Administrator: ~Copyable {
  private var client: RequestClient

  /// Creates a connection. The relay must run by the first request.
  public init(_ credential: AdministratorCredential) throws {
    client = try RequestClient(
      credential.keys, relay: credential.relayKey, at: credential.requests)
  }

  /// Creates a connection with the administrator's credential of a relay's folder.
  public init(relay directory: URL) throws {
    let file = AdministratorCredential.file(in: directory)
    try self.init(try AdministratorCredential.read(from: file))
  }

  /// Sends a command and waits until the relay accepts it.
  ///
  /// - Parameter id: The command's id (default: a new one).
  /// - Throws: The `Problem` of a refusal, or `RelayUnreachable`.
  public mutating func send(_ command: Command, to family: FamilyID, id: CommandID? = nil) throws {
    try client.send(command, from: Self.address(in: family), id: id)
  }

  /// Sends commands that devices have signed, with hundreds in flight, and waits until all are
  /// accepted.
  ///
  /// - Parameter progress: Called repeatedly with the number of accepted commands.
  /// - Throws: The `Problem` of the first refusal, or `RelayUnreachable`.
  public mutating func sendAll(
    _ commands: some Sequence<(family: FamilyID, command: SignedCommand)>, progress: (Int) -> Void
  ) throws {
    try client.sendAll(
      commands.lazy.map { (device: Self.address(in: $0.family), command: $0.command) },
      progress: progress)
  }

  /// Sends commands that a device has signed, one after the other.
  ///
  /// - Throws: The `Problem` of the first refusal, or `RelayUnreachable`.
  public mutating func send(_ commands: [SignedCommand], to family: FamilyID) throws {
    try client.send(commands, from: Self.address(in: family))
  }

  /// Reads all events of the family audience or of an account.
  ///
  /// - Throws: `notPermitted` for a conversation, `RelayUnreachable`, or another `Problem`.
  public mutating func history(of audience: Audience, in family: FamilyID) throws -> [Event] {
    try client.history(of: audience, from: Self.address(in: family))
  }

  /// The administrator is device 0 of every family.
  private static func address(in family: FamilyID) -> DeviceAddress {
    DeviceAddress(family: family, device: DeviceID(0))
  }
}
