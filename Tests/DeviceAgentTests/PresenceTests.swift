@testable import DeviceAgent
import RelayFixture
import FamilyModel
import Testing

@Suite struct PresenceTests {
  private func device(_ number: Int) -> DeviceAddress {
    DeviceAddress(family: FamilyID(UInt64(number)), device: DeviceID(1))
  }

  private func presence(_ count: Int) -> Presence {
    var presence = Presence()
    for number in 1...count { presence.add(device(number), now: 0) }
    return presence
  }

  /// What is said in `rounds` times 15 seconds, by a relay that answers.
  private func said(_ presence: inout Presence, rounds: UInt64) -> [[DeviceAddress]] {
    var said: [[DeviceAddress]] = []
    while let now = presence.deadline, now <= Presence.interval * (rounds + 1) {
      #expect(presence.expire(now: now) == [])
      said.append(Array(presence.announce(now: now)))
      presence.messageArrived()
    }
    return said
  }

  @Test("each of many devices is named once in 15 seconds, many in one request")
  func rounds() {
    var presence = presence(1_000)
    let said = said(&presence, rounds: 3)
    #expect(said.allSatisfy { !$0.isEmpty && $0.count <= Presence.devicesPerRequest })
    #expect(said.count == 13)
    let times = said.joined().reduce(into: [:]) { $0[$1, default: 0] += 1 }
    #expect(times.count == 1_000 && times.values.allSatisfy { (3...4).contains($0) })
  }

  @Test("who has gone is not named any more")
  func remove() {
    var presence = presence(3)
    presence.remove(device(1))
    #expect(said(&presence, rounds: 0).map(Set.init) == [[device(2), device(3)]])
    presence.remove(device(2))
    presence.remove(device(3))
    #expect(presence.deadline == nil)
  }

  @Test("where nothing comes for long after a request, all devices attach anew, and not before")
  func lost() {
    var presence = presence(2)
    _ = presence.announce(now: Presence.interval)
    let late = Presence.interval + Presence.timeout
    #expect(presence.expire(now: late - 1) == [])
    var heard = presence
    heard.messageArrived()
    #expect(heard.expire(now: late) == [])
    #expect(presence.expire(now: late) == [device(1), device(2)])
    #expect(presence.deadline == nil)
  }
}
