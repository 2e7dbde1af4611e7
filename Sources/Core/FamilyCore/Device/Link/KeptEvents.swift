import FamilyModel

/// The verified events that protect the family and that this device cannot state again: all rosters,
/// and what other devices have taken. The device keeps a durable copy of those that the relay loses,
/// and applies it at each start, until their event is read again.
struct KeptEvents: Sendable {
  struct Entry: Sendable {
    var event: Event
    var order: UInt64
    /// The last position that the present history shares with that of the event; `nil` for an event
    /// of the present history.
    var lostAfter: UInt64?
  }

  var entries: [CommandName: Entry] = [:]
  var next: UInt64 = 0

  /// Records a verified event with its content open. Above ``Limits/keptEvents``, the oldest event of
  /// the present history that is no roster is forgotten.
  ///
  /// - Parameter lostAfter: See ``DeviceRecord/lost(_:after:)``; `nil` for a present event.
  mutating func add(_ event: Event, lostAfter: UInt64? = nil) {
    guard let name = event.commandName else { return }
    next += 1
    entries[name] = Entry(event: event, order: next, lostAfter: lostAfter)
    guard entries.count > Limits.keptEvents else { return }
    let oldest = entries.filter { $0.value.lostAfter == nil && !$0.value.event.isRoster }
      .min { $0.value.order < $1.value.order }
    if let oldest { entries[oldest.key] = nil }
  }

  /// Marks the events after a position as lost.
  ///
  /// - Returns: The copies to store, in order.
  mutating func lose(_ audience: Audience, after seq: UInt64) -> [RecordChange] {
    let lost = entries.filter { _, entry in
      entry.event.audience == audience && (entry.lostAfter ?? entry.event.seq) > seq
    }
    return lost.sorted { $0.value.order < $1.value.order }.map { name, entry in
      entries[name]!.lostAfter = seq
      return .put(.lost(entry.event, after: seq))
    }
  }

  /// Records the present position of an event that this device reads again.
  ///
  /// - Returns: The removal of its copy; `nil` if it was not lost.
  mutating func found(_ event: Event) -> RecordChange? {
    guard let name = event.commandName, let entry = entries[name] else { return nil }
    entries[name]!.event.seq = event.seq
    entries[name]!.lostAfter = nil
    return entry.lostAfter == nil ? nil : .delete(.lost(name))
  }
}

extension Event {
  /// The name of the command, by its signer; `nil` without a signature.
  var commandName: CommandName? { signature.map { CommandName($0.signer, command) } }

  /// The name of the command. The relay names the sending device, but only a signature proves it.
  /// Without a signature the device is zero.
  var name: CommandName { commandName ?? CommandName(DeviceID(0), command) }

  /// Whether the event is a roster. A dishonest relay can place one among a conversation's events.
  var isRoster: Bool {
    if case .rosterChanged = body { audience == .family } else { false }
  }
}
