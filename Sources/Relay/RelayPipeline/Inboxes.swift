import FamilyModel

/// The inboxes of the keys that attached most recently. Owned by the socket thread.
///
/// A key keeps its inbox over reconnections. At the limit, a clock hand passes over the entries and
/// removes the first one whose key has neither attached nor subscribed since the last pass. Broadcasts
/// to a removed key are lost; its devices become late, and the reply to their next ping has a new inbox.
struct Inboxes {
  private struct Entry {
    var key: PeerKey
    var inbox: Inbox
    /// The topic of the inbox, which each broadcast needs.
    var topic: [UInt8]
    /// The devices that attached last, oldest first.
    var devices: [DeviceAddress]
    /// Whether the key was used since the hand passed.
    var isRecent = true
  }

  private var entries: [Entry] = []
  private var slots: [PeerKey: Int] = [:]
  /// The entry that the clock hand points at.
  private var hand = 0
  /// The numbers that were used. A number is never used again, because a connection may still be
  /// subscribed to it.
  private var usedNumbers: UInt64 = 0
  private let process: UInt32
  private let limit: Int

  /// - Parameters:
  ///   - limit: The number of inboxes, at least one.
  ///   - process: Names the relay's process, so that a subscription to an earlier one matches nothing.
  init(limit: Int, process: UInt32 = .random(in: .min ... .max)) {
    self.limit = max(1, limit)
    self.process = process
  }

  /// The number of inboxes.
  var count: Int { entries.count }

  /// The topic for broadcasts to the key; `nil` if the key has no inbox.
  func topic(of key: PeerKey) -> [UInt8]? { slots[key].map { entries[$0].topic } }

  /// The inbox of a key that has attached a device.
  mutating func attached(_ device: DeviceAddress, _ key: PeerKey) -> Inbox {
    let slot = slots[key] ?? insert(key)
    entries[slot].isRecent = true
    if entries[slot].devices.last != device {
      entries[slot].devices.removeAll { $0 == device }
      entries[slot].devices.append(device)
      if entries[slot].devices.count > RelayLimits.devicesPerInbox {
        entries[slot].devices.removeFirst()
      }
    }
    return entries[slot].inbox
  }

  /// The inbox to approve in place of the requested topic, and the key's devices that attached last.
  ///
  /// - Returns: `nil` if the key has no inbox, or the topic does not name this process.
  mutating func subscribe(_ key: PeerKey, to topic: [UInt8]) -> (
    inbox: Inbox, devices: [DeviceAddress]
  )? {
    guard let slot = slots[key], entries[slot].inbox.subscription == topic else { return nil }
    entries[slot].isRecent = true
    return (entries[slot].inbox, entries[slot].devices)
  }

  private mutating func insert(_ key: PeerKey) -> Int {
    usedNumbers += 1
    let inbox = Inbox(process: process, number: usedNumbers)
    let entry = Entry(key: key, inbox: inbox, topic: inbox.bytes, devices: [])
    let slot = freeSlot()
    if slot == entries.count { entries.append(entry) } else { entries[slot] = entry }
    slots[key] = slot
    return slot
  }

  /// A slot without an entry in use; removes one at the limit.
  private mutating func freeSlot() -> Int {
    guard entries.count >= limit else { return entries.count }
    while entries[hand].isRecent {
      entries[hand].isRecent = false
      hand = (hand + 1) % entries.count
    }
    defer { hand = (hand + 1) % entries.count }
    slots[entries[hand].key] = nil
    return hand
  }
}
