import Credentials
import FamilyModel

/// The topics and keys of the channels that were used last: what is made for one broadcast of an approval
/// serves the others.
///
/// Each channel has one place, and the next one of that place takes it: what it costs does not depend on how
/// many families there are.
struct ChannelCache: Sendable {
  private struct Entry: Sendable {
    var meaning: ChannelCipher.Meaning
    var topic: [UInt8]
    var key: [UInt8]
  }

  private let cipher: ChannelCipher
  private var entries: [Entry?]

  init(_ cipher: ChannelCipher, most: Int) {
    self.cipher = cipher
    entries = Array(repeating: nil, count: most)
  }

  /// What a member is told.
  func channel(_ family: FamilyID, _ audience: Audience, _ generation: UInt32)
    -> (topic: [UInt8], key: [UInt8])
  {
    (
      cipher.topic(family, audience, generation: generation),
      cipher.key(family, audience, generation: generation)
    )
  }

  /// What a broadcast is sealed with.
  mutating func sealing(_ family: FamilyID, _ audience: Audience, _ generation: UInt32)
    -> (topic: [UInt8], key: [UInt8])
  {
    let meaning = ChannelCipher.Meaning(
      family: family, audience: audience, generation: generation)
    let place = Int((family.rawValue &* 31 &+ audience.rawValue).scattered) % entries.count
    if entries[place]?.meaning != meaning {
      let (topic, key) = channel(family, audience, generation)
      entries[place] = Entry(meaning: meaning, topic: topic, key: key)
    }
    return (entries[place]!.topic, entries[place]!.key)
  }
}
