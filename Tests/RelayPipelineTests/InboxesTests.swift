import FamilyModel
import Testing

@testable import RelayPipeline

@Suite struct InboxesTests {
  private func key(_ number: UInt8) -> PeerKey { PeerKey([UInt8](repeating: number, count: 32))! }

  private func device(_ number: UInt32) -> DeviceAddress {
    DeviceAddress(family: FamilyID(1), device: DeviceID(number))
  }

  @Test("O7: inboxes have one size, share the process's name, and are consecutive")
  func shape() {
    var inboxes = Inboxes(limit: 300, process: 0x01_02_03)
    let all = (0..<200).map { inboxes.attached(device(1), key($0)) }
    #expect(all.map(\.rawValue) == (1...200).map { 0x0102_0300_0000_0000 + $0 })
    #expect(all.allSatisfy { $0.bytes.count == Inbox.byteCount })
    #expect(Set(all.map(\.subscription)) == [[1, 2, 3]])
    #expect(inboxes.count == 200)
    for inbox in all { #expect(Inbox(bytes: inbox.bytes) == inbox) }
    #expect(Inbox(bytes: [1, 2, 3]) == nil && Inbox(bytes: all[0].bytes + [0]) == nil)
  }

  @Test("O7: a key keeps its inbox over reconnections and devices, and no other key gets it")
  func kept() {
    var inboxes = Inboxes(limit: 2)
    let first = inboxes.attached(device(1), key(1))
    #expect(inboxes.attached(device(2), key(1)) == first)
    #expect(inboxes.attached(device(1), key(2)) != first)
    #expect(inboxes.topic(of: key(1)) == first.bytes && inboxes.topic(of: key(3)) == nil)
  }

  @Test("F3: only the process's name is approved, and only for a key that has attached")
  func approved() {
    var inboxes = Inboxes(limit: 2, process: 7)
    let inbox = inboxes.attached(device(1), key(1))
    let topic = inbox.subscription
    #expect(inboxes.subscribe(key(1), to: topic)?.inbox == inbox)
    #expect(inboxes.subscribe(key(2), to: topic) == nil)
    let earlier = Inbox(process: 6, number: 1).subscription
    for other in [[], [0], Array(topic.prefix(2)), topic + [0], inbox.bytes, earlier] {
      #expect(inboxes.subscribe(key(1), to: other) == nil)
    }
  }

  @Test("O7: a subscription names the last devices of its key")
  func devices() {
    var inboxes = Inboxes(limit: 2)
    let limit = UInt32(RelayLimits.devicesPerInbox)
    for number in 1...limit { _ = inboxes.attached(device(number), key(1)) }
    func devices() -> [UInt32]? {
      let inbox = inboxes.attached(device(1), key(2))
      _ = inboxes.attached(device(limit + 9), key(2))
      return inboxes.subscribe(key(1), to: inbox.subscription)?.devices.map(\.device.rawValue)
    }
    #expect(devices() == Array(1...limit))
    _ = inboxes.attached(device(1), key(1))
    #expect(devices() == Array(2...limit) + [1])
    _ = inboxes.attached(device(limit + 1), key(1))
    #expect(devices() == Array(3...limit) + [1, limit + 1])
  }

  @Test("O7: at the limit a key that was not used lately loses its inbox, which no key gets again")
  func limit() {
    var inboxes = Inboxes(limit: 3)
    var used: Set<Inbox> = []
    for number in 1...3 { used.insert(inboxes.attached(device(1), key(UInt8(number)))) }
    #expect(used.count == 3 && inboxes.count == 3)
    // The hand passes over all three, and removes the first.
    let fourth = inboxes.attached(device(1), key(4))
    #expect(used.insert(fourth).inserted && inboxes.count == 3)
    #expect(inboxes.topic(of: key(1)) == nil && inboxes.topic(of: key(3)) != nil)
    // Key 2 was used since, key 3 was not.
    _ = inboxes.attached(device(1), key(2))
    #expect(used.insert(inboxes.attached(device(1), key(5))).inserted)
    #expect(inboxes.topic(of: key(2)) != nil && inboxes.topic(of: key(3)) == nil)
    #expect(used.insert(inboxes.attached(device(1), key(1))).inserted)
    for number in 0..<200 { _ = inboxes.attached(device(1), key(UInt8(number))) }
    #expect(inboxes.count == 3)
  }

  @Test("a public key of another size is no peer's key")
  func size() {
    #expect(PeerKey([]) == nil && PeerKey([UInt8](repeating: 1, count: 33)) == nil)
  }
}
