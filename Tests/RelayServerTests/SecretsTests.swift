@testable import RelayServer
@testable import Credentials
import Crypto
import RelayFixture
import FamilyModel
import FamilyTrust
import Foundation
import Testing
import ZeroMQ

@Suite struct SecretsTests {
  let cipher = ChannelCipher(secret: Array(repeating: 7, count: 32))

  @Test("X3: the relay decodes its own topics and no others") func topics() {
    let audiences: [Audience] = [
      .family, .conversation(PersonID(3)), .account(PersonID(.max)), .conversation(PersonID(.max)),
    ]
    for family in [FamilyID(1), FamilyID(.max)] {
      for audience in audiences {
        for generation: UInt32 in [0, 1, 0xFF_FFFF] {
          let topic = cipher.topic(family, audience, generation: generation)
          let channel = cipher.channelID(of: topic)
          #expect(channel?.family == family && channel?.audience == audience)
          #expect(channel?.generation == generation)
        }
      }
    }
    var source = IDSource(seed: 1)
    for _ in 0..<5_000 {
      let guess = ID128(high: source.next(), low: source.next()).bytes
      #expect(cipher.channelID(of: guess + [0, 0, 0]) == nil)
    }
    let other = ChannelCipher(secret: Array(repeating: 8, count: 32))
    let topic = cipher.topic(FamilyID(1), .family, generation: 0)
    #expect(other.topic(FamilyID(1), .family, generation: 0) != topic)
    #expect(
      other.key(FamilyID(1), .family, generation: 0)
        != cipher.key(FamilyID(1), .family, generation: 0))
  }

  @Test("X3: a channel has one topic, and no topic is a prefix of another") func spelling() {
    let topic = cipher.topic(FamilyID(1), .conversation(PersonID(3)), generation: 300)
    #expect(cipher.channelID(of: topic) != nil)
    for count in topic.indices { #expect(cipher.channelID(of: Array(topic.prefix(count))) == nil) }
    #expect(cipher.channelID(of: topic + [0]) == nil)
    // Non-minimal encodings of the same numbers, and unknown kinds and persons.
    let first = Array(topic.prefix(16))
    #expect(cipher.channelID(of: first + [0xAC, 0x02, 3, 1])?.generation == 300)
    let wrong: [[UInt8]] = [
      [0xAC, 0x82, 0, 3, 1], [0xAC, 0x02, 0x83, 0, 1], [0xAC, 0x02, 3, 3], [0xAC, 0x02, 3, 0],
      [0xAC, 0x02, 0, 1], [0x80, 0x80, 0x80, 0x08, 3, 1],
    ]
    for rest in wrong { #expect(cipher.channelID(of: first + rest) == nil) }
  }

  @Test("X3: every channel has a different key") func keys() {
    var keys: Set<[UInt8]> = []
    for family in [FamilyID(1), FamilyID(2)] {
      for audience in [Audience.family, .conversation(PersonID(3)), .account(PersonID(3))] {
        for generation: UInt32 in [0, 1] {
          keys.insert(cipher.key(family, audience, generation: generation))
        }
      }
    }
    #expect(keys.count == 12 && keys.allSatisfy { $0.count == ChannelCipher.keyBytes })
    #expect(keys.allSatisfy { $0.prefix(16) != $0.suffix(16) })
  }

  @Test("X3: libsodium and the portable code seal identically, with a new nonce each time")
  func sealFast() {
    var sealer = BroadcastSealer()
    let topic = cipher.topic(FamilyID(1), .family, generation: 0)
    let key = cipher.key(FamilyID(1), .family, generation: 0)
    var nonces: Set<[UInt8]> = []
    for count in [0, 1, 15, 16, 17, 400, 5_000] {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
      let sealed = sealer.seal(bytes, topic: topic, key: key)
      #expect(ChannelCipher.open(sealed, topic: topic, key: key) == bytes)
      #expect(ChannelCipher.open(sealed, topic: topic + [0], key: key) == nil)
      let nonce = Array(sealed.prefix(12))
      nonces.insert(nonce)
      let slow = nonce.withUnsafeBytes {
        ChannelCipher.seal(bytes, topic: topic, key: key, nonce: $0)
      }
      #expect(slow == sealed)
    }
    #expect(nonces.count == 7)
  }

  @Test("X3: sealed bytes open only with their key and topic") func seal() {
    let topic = cipher.topic(FamilyID(1), .family, generation: 0)
    let key = cipher.key(FamilyID(1), .family, generation: 0)
    let sealed = ChannelCipher.seal([1, 2, 3], topic: topic, key: key)
    #expect(ChannelCipher.open(sealed, topic: topic, key: key) == [1, 2, 3])
    #expect(ChannelCipher.seal([1, 2, 3], topic: topic, key: key) != sealed)
    #expect(ChannelCipher.open(sealed, topic: [], key: key) == nil)
    #expect(ChannelCipher.open(sealed, topic: topic, key: topic + topic) == nil)
    #expect(ChannelCipher.open(sealed, topic: topic, key: []) == nil)
    for index in sealed.indices {
      var changed = sealed
      changed[index] ^= 1
      #expect(ChannelCipher.open(changed, topic: topic, key: key) == nil)
      #expect(ChannelCipher.open(Array(sealed.prefix(index)), topic: topic, key: key) == nil)
    }
  }

  @Test("F3: credentials survive a round trip, and are refused if other users may read them")
  func credentials() throws {
    let folder = RelayFixture.newFolder()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = folder.appendingPathComponent("family-1-Cleo-1.json")
    let credential = Credential(
      address: DeviceAddress(family: FamilyID(1), device: DeviceID(2)), personID: PersonID(3),
      role: .child, name: "Cleo", keys: try .generate(), deviceKeys: DeviceKeys(),
      organizerKey: DeviceKeys().signingKey, relayKey: try CurveKeyPair.generate().publicKey,
      requests: "ipc:///a", broadcasts: "ipc:///b")
    try credential.write(to: file)
    let found = try Credential.read(from: file)
    #expect(found.keys == credential.keys && found.address == credential.address)
    #expect(found.relayKey == credential.relayKey && found.role == .child && found.name == "Cleo")
    for mode in [0o644, 0o640, 0o601] {
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
      let failure = #expect(throws: PrivateFile.Failure.self) { try Credential.read(from: file) }
      #expect(failure?.description.contains("chmod 600") == true)
    }
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    try Data("{}".utf8).write(to: file)
    #expect(throws: PrivateFile.Failure.self) { try Credential.read(from: file) }
  }
}
