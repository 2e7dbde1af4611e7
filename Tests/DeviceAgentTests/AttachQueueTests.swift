@testable import DeviceAgent
import RelayFixture
import FamilyModel
import Testing

@Suite struct AttachQueueTests {
  private func device(_ number: Int) -> DeviceAddress {
    DeviceAddress(family: FamilyID(UInt64(number)), device: DeviceID(1))
  }

  @Test(
    "a relay that answers is asked by many devices at a time, one that does not by fewer and fewer")
  func window() {
    var queue = AttachQueue()
    for number in 0..<5_000 { queue.enqueue(device(number)) }
    var now = Instant(milliseconds: 1_000)
    var turns: [Int] = []
    for _ in 0..<8 {
      turns.append(queue.admit(now: now).count)
      now = now + AttachQueue.timeout
    }
    #expect(turns == [256, 128, 64, 32, 16, 8, 8, 8])
    // Each answer lets one more in than before.
    let turn = queue.admit(now: now)
    for device in turn { queue.replied(to: device, now: now) }
    let next = queue.admit(now: now)
    #expect(next.count == 2 * turn.count)
  }

  @Test(
    "a device does not ask the same again while its answer can be expected, but asks for more at once"
  )
  func again() {
    var queue = AttachQueue()
    let now = Instant(milliseconds: 1_000)
    let more = [Cursor(.family, delivered: 1)]
    var may: [Bool] = []
    may.append(queue.mayAttach(device(1), from: [], now: now))
    may.append(queue.mayAttach(device(1), from: [], now: now + 999))
    may.append(queue.mayAttach(device(1), from: more, now: now + 999))
    may.append(queue.mayAttach(device(1), from: more, now: now + 1_999))
    queue.replied(to: device(1), now: now + 2_000)
    may.append(queue.mayAttach(device(1), from: more, now: now + 2_000))
    // A clock that was set back does not make it wait.
    may.append(queue.mayAttach(device(1), from: more, now: now))
    #expect(may == [true, false, true, true, true, true])
  }
}
