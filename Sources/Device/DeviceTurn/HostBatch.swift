package import FamilyCore
package import FamilyModel
package import RelayWire

/// The next transaction of a host, and the effects that depend on it, in order.
package struct HostBatch {
  /// The durable changes of the devices' records.
  package internal(set) var records: [(device: DeviceAddress, changes: [RecordChange])] = []
  /// The relay's new proofs of enrolment, which are durable in the same transaction.
  package internal(set) var passes: [(device: DeviceAddress, pass: [UInt8])] = []
  /// The effects. A host that has not committed carries none of them out.
  package internal(set) var effects: [HostEffect] = []
}

/// An effect outside of a host.
package enum HostEffect {
  /// Sends a request over the connection of a key. Dropped if the connection's queue is full: the
  /// machine's timer retries.
  case send(Envelope, key: [UInt8])
  /// Subscribes the connection of a key to a topic: the start of its inbox.
  case subscribe([UInt8], key: [UInt8])
  /// Ends the connection's subscription to a topic.
  case unsubscribe([UInt8], key: [UInt8])
  /// An effect for the people and the apps of a device.
  case local(DeviceEffect, DeviceAddress)
}
