import FamilyCore
import FamilyModel
import Testing

@Suite struct ReattachTests {
  private func attachments(_ effects: [DeviceEffect]) -> [UInt64] {
    effects.compactMap { if case .send(let id, .attach) = $0 { id } else { nil } }
  }

  @Test("M5: requests the channels of new audiences until the relay answers")
  func lost() throws {
    var now = Instant(milliseconds: 0)
    var device = ChildMachine(
      DeviceAddress(family: World.family, device: DeviceID(3)), of: World.emily, apps: [],
      ids: IDSource(seed: 1))
    _ = device.step(.connected, now: now)
    _ = device.step(.reply(1, .attached([])), now: now)
    let roster = Event(
      seq: 1, previous: 0, audience: .family, command: ID128(high: 1, low: 1), device: DeviceID(1),
      at: now, body: .rosterChanged(World.roster))
    var requests = attachments(device.step(.broadcast(.event(roster)), now: now))
    #expect(requests.count == 1)
    // The relay refuses for now, or a proxy loses the request. Pings go through.
    while now < Instant(milliseconds: 20_000) {
      now = max(now + .milliseconds(1), device.deadline ?? now)
      let effects = device.step(.timer, now: now)
      for case .send(let id, .ping) in effects { _ = device.step(.reply(id, .pong), now: now) }
      requests += attachments(effects)
    }
    #expect(requests.count > 3)
    let last = try #require(requests.last)
    #expect(device.step(.reply(last, .attached([])), now: now).isEmpty == false)
    now = now + .seconds(14)
    #expect(attachments(device.step(.timer, now: now)).isEmpty)
  }
}
