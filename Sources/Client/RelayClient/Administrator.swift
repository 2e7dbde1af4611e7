public import Credentials
public import FamilyCore
public import FamilyModel
public import Foundation

/// The administrator's connection to a running relay: one request at a time.
public struct Administrator: ~Copyable {
  private var client: RequestClient

  /// Connects to the relay, which must run by the first request.
  public init(_ credential: AdministratorCredential) throws {
    client = try RequestClient(
      credential.keys, relay: credential.relayKey, at: credential.requests)
  }

  /// Connects to the relay of the folder, which has the administrator's credential.
  public init(relay directory: URL) throws {
    let file = AdministratorCredential.file(in: directory)
    try self.init(try AdministratorCredential.read(from: file))
  }

  /// Sends the command and waits for its acceptance.
  ///
  /// - Parameter id: The command's id; a new one, unless given.
  /// - Throws: the `Problem` for which it is refused; `RelayUnreachable` when nobody answers.
  public mutating func send(_ command: Command, to family: FamilyID, id: CommandID? = nil) throws {
    try client.send(command, from: Self.address(in: family), id: id)
  }

  /// Brings in, for devices, what they have signed: hundreds of commands at a time; waits for all.
  ///
  /// - Parameter progress: Called with the number of commands that were accepted, now and then.
  /// - Throws: the `Problem` of the first that is refused; `RelayUnreachable` when nobody answers.
  public mutating func sendAll(
    _ commands: some Sequence<(family: FamilyID, command: SignedCommand)>, progress: (Int) -> Void
  ) throws {
    try client.sendAll(
      commands.lazy.map { (device: Self.address(in: $0.family), command: $0.command) },
      progress: progress)
  }

  /// Brings in, for a device, what it has signed.
  ///
  /// - Throws: the `Problem` for which one of the commands is refused; `RelayUnreachable` when nobody answers.
  public mutating func send(_ commands: [SignedCommand], to family: FamilyID) throws {
    try client.send(commands, from: Self.address(in: family))
  }

  /// Everything that was ever said in the audience: the family's rosters, or an account's records.
  ///
  /// - Throws: `notPermitted` for a conversation, which no administrator reads.
  public mutating func history(of audience: Audience, in family: FamilyID) throws -> [Event] {
    try client.history(of: audience, from: Self.address(in: family))
  }

  /// In every family, the administrator is device zero.
  private static func address(in family: FamilyID) -> DeviceAddress {
    DeviceAddress(family: family, device: DeviceID(0))
  }
}
