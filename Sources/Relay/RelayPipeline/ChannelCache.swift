import Credentials
import FamilyModel

/// The topics and keys of the channels that were sealed for most recently.
///
/// Each channel has one slot, and another channel of the same slot replaces the entry. The cost of
/// a lookup therefore does not depend on the number of families.
struct ChannelCache: Sendable {
  private struct Entry: Sendable {
    var id: ChannelCipher.ChannelID
    var topic: [UInt8]
    var key: [UInt8]
  }

  private let cipher: ChannelCipher
  private var entries: [Entry?]

  /// - Parameter capacity: The number of slots.
  init(_ cipher: ChannelCipher, capacity: Int) {
    self.cipher = cipher
    entries = Array(repeating: nil, count: capacity)
  }

  /// The channel's topic and key for a reply to attach. Bypasses the cache: a device attaches once
  /// for many broadcasts.
  func channel(_ family: FamilyID, _ audience: Audience, _ generation: UInt32)
    -> (topic: [UInt8], key: [UInt8])
  {
    (
      cipher.topic(family, audience, generation: generation),
      cipher.key(family, audience, generation: generation)
    )
  }

  /// The topic and key that seal a broadcast.
  mutating func sealingChannel(_ family: FamilyID, _ audience: Audience, _ generation: UInt32)
    -> (topic: [UInt8], key: [UInt8])
  {
    let id = ChannelCipher.ChannelID(
      family: family, audience: audience, generation: generation)
    let slot = Int((family.rawValue &* 31 &+ audience.rawValue).scattered) % entries.count
    if entries[slot]?.id != id {
      let (topic, key) = channel(family, audience, generation)
      entries[slot] = Entry(id: id, topic: topic, key: key)
    }
    return (entries[slot]!.topic, entries[slot]!.key)
  }
}
