import Crypto
import FamilyModel

/// The topics and keys of channels in use: to derive one costs more than to seal a broadcast.
struct ChannelCache: Sendable {
  private struct Name: Hashable {
    var family: FamilyID
    var audience: Audience
    var generation: UInt32
  }

  private let cipher: ChannelCipher
  /// How many are kept: then all are made anew.
  private let most: Int
  private var known: [Name: (topic: [UInt8], key: SymmetricKey)] = [:]

  init(_ cipher: ChannelCipher, most: Int) {
    self.cipher = cipher
    self.most = most
  }

  /// What a member is told.
  mutating func channel(_ family: FamilyID, _ audience: Audience, _ generation: UInt32)
    -> (topic: [UInt8], key: [UInt8])
  {
    let (topic, key) = sealing(family, audience, generation)
    return (topic, key.withUnsafeBytes { [UInt8]($0) })
  }

  /// What a broadcast is sealed with.
  mutating func sealing(_ family: FamilyID, _ audience: Audience, _ generation: UInt32)
    -> (topic: [UInt8], key: SymmetricKey)
  {
    let name = Name(family: family, audience: audience, generation: generation)
    if let found = known[name] { return found }
    if known.count >= most { known.removeAll(keepingCapacity: true) }
    let topic = cipher.topic(family, audience, generation: generation)
    let channel = (topic: topic, key: SymmetricKey(data: cipher.key(of: topic)))
    known[name] = channel
    return channel
  }
}
