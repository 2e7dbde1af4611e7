import Credentials
import FamilyModel
import RelayClient
import Synchronization

/// The connections of a family's people, which keep what they have read for the next operation.
final class PeopleClients: Sendable {
  private final class Slot: Sendable {
    let client = Mutex<DeviceClient?>(nil)
  }
  private let slots: [DeviceAddress: Slot]

  init(_ people: [Credential]) {
    slots = Dictionary(uniqueKeysWithValues: people.map { ($0.address, Slot()) })
  }

  /// Sends the command as the device and waits until the relay accepts it.
  ///
  /// - Throws: The `Problem` of a refusal that holds with all events read, or `RelayUnreachable`.
  func send(_ command: Command, as credential: Credential) throws -> (id: CommandID, seq: UInt64) {
    try slots[credential.address]!.client.withLock { kept in
      if var client = kept.take() {
        // A refusal may come from what the client has not read.
        let sent = try Self.accepted { () throws in try client.send(command) }
        if let sent {
          kept = consume client
          return sent
        }
      }
      var client = try DeviceClient(credential)
      let sent = try client.send(command)
      kept = consume client
      return sent
    }
  }

  private static func accepted<R>(_ body: () throws -> R) throws -> R? {
    do { return try body() } catch is Problem { return nil }
  }
}
