import FamilyModel
import Testing
import ZeroMQ

@testable import DeviceTurn

@Suite struct PresenceTests {
  private func device(_ number: Int) -> DeviceAddress {
    DeviceAddress(family: FamilyID(UInt64(number)), device: DeviceID(1))
  }

  private func presence(_ count: Int) -> Presence {
    var presence = Presence()
    for number in 1...count { presence.add(device(number), now: .machineStart) }
    return presence
  }

  /// The requests of `rounds` intervals, to a relay that answers.
  private func requests(_ presence: inout Presence, rounds: Int) -> [[DeviceAddress]] {
    var requests: [[DeviceAddress]] = []
    while let now = presence.deadline, now <= .machineStart + Presence.interval * (rounds + 1) {
      #expect(presence.expire(now: now) == [])
      requests.append(Array(presence.announce(now: now)))
      presence.messageArrived()
    }
    return requests
  }

  @Test("every device is announced once per interval, many in one request")
  func rounds() {
    var presence = presence(1_000)
    let requests = requests(&presence, rounds: 3)
    #expect(requests.allSatisfy { !$0.isEmpty && $0.count <= Presence.devicesPerRequest })
    #expect(requests.count == 13)
    let times = requests.joined().reduce(into: [:]) { $0[$1, default: 0] += 1 }
    #expect(times.count == 1_000 && times.values.allSatisfy { (3...4).contains($0) })
  }

  @Test("a removed device is not announced")
  func remove() {
    var presence = presence(3)
    presence.remove(device(1))
    #expect(requests(&presence, rounds: 0).map(Set.init) == [[device(2), device(3)]])
    presence.remove(device(2))
    presence.remove(device(3))
    #expect(presence.deadline == nil)
  }

  @Test("all devices attach again after a timeout without a message, and not before")
  func lost() {
    var presence = presence(2)
    let first = MonotonicInstant.machineStart + Presence.interval
    _ = presence.announce(now: first)
    let late = first + Presence.timeout
    #expect(presence.expire(now: late - Nanoseconds(1)) == [])
    var heard = presence
    heard.messageArrived()
    #expect(heard.expire(now: late) == [])
    #expect(presence.expire(now: late) == [device(1), device(2)])
    #expect(presence.deadline == nil)
  }
}
