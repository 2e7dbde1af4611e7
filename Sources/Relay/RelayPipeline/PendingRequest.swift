import FamilyCore
import FamilyModel
import RelayWire

/// A decoded request that its shard has not handled, with its sender.
struct PendingRequest: Sendable {
  /// The identity of the sender's connection: the first frame of a reply.
  var route: [UInt8]
  /// The sender's CURVE key, which the connection has proved.
  var key: [UInt8]
  var isAdministrator: Bool
  /// The connection's file descriptor if the request may prove the peer's identity. `nil` for a
  /// device's commands: a device attaches before its first command.
  var descriptor: (Int32, epoch: UInt64)?
  var envelope: Envelope
  /// Bytes of the message.
  var bytes: Int
  /// The time that all rate limits use for this request, also after a deferral.
  var receivedAt: Instant

  var family: FamilyID { envelope.device.family }

  var sender: RelayMachine.Sender {
    .init(
      address: envelope.device, key: key, isAdministrator: isAdministrator,
      id: RequestID(envelope.requestID))
  }
}

extension [PendingRequest] {
  /// Limits the times of the requests to `now`, because the wall clock was set back. A timer that
  /// starts at a later time would wait for the size of the step.
  mutating func clockSetBack(_ now: Instant) {
    for index in indices { self[index].receivedAt = Swift.min(self[index].receivedAt, now) }
  }
}
