import FamilyModel

/// The topics and keys of channels in use: to derive one costs more than to seal a broadcast.
struct ChannelCache {
  private struct Name: Hashable {
    var family: FamilyID
    var audience: Audience
    var generation: UInt32
  }

  private let cipher: ChannelCipher
  private var known: [Name: (topic: [UInt8], key: [UInt8])] = [:]

  init(_ cipher: ChannelCipher) { self.cipher = cipher }

  mutating func channel(_ family: FamilyID, _ audience: Audience, _ generation: UInt32)
    -> (topic: [UInt8], key: [UInt8])
  {
    let name = Name(family: family, audience: audience, generation: generation)
    if let found = known[name] { return found }
    if known.count >= RelayLimits.channels { known.removeAll(keepingCapacity: true) }
    let topic = cipher.topic(family, audience, generation: generation)
    let channel = (topic: topic, key: cipher.key(of: topic))
    known[name] = channel
    return channel
  }

  func meaning(of topic: [UInt8]) -> ChannelCipher.Meaning? { cipher.meaning(of: topic) }
}
