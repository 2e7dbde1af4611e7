import FamilyModel
import Testing

@testable import DeviceTurn

@Suite struct AttachQueueTests {
  private func device(_ number: Int) -> DeviceAddress {
    DeviceAddress(family: FamilyID(UInt64(number)), device: DeviceID(1))
  }

  @Test(
    "the window grows with replies and is halved when replies time out")
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
    // Each reply grows the window by one.
    let turn = queue.admit(now: now)
    for device in turn { queue.replied(to: device, now: now) }
    let next = queue.admit(now: now)
    #expect(next.count == 2 * turn.count)
  }

  @Test(
    "an identical request waits for its reply, a different one does not"
  )
  func again() {
    var queue = AttachQueue()
    let now = Instant(milliseconds: 1_000)
    let more = [Cursor(.family, delivered: 1)]
    var may: [Bool] = []
    may.append(queue.mayAttach(device(1), from: [], now: now))
    may.append(queue.mayAttach(device(1), from: [], now: now + .milliseconds(999)))
    may.append(queue.mayAttach(device(1), from: more, now: now + .milliseconds(999)))
    may.append(queue.mayAttach(device(1), from: more, now: now + .milliseconds(1_999)))
    queue.replied(to: device(1), now: now + .seconds(2))
    may.append(queue.mayAttach(device(1), from: more, now: now + .seconds(2)))
    // A clock that was set back causes no wait.
    may.append(queue.mayAttach(device(1), from: more, now: now))
    #expect(may == [true, false, true, true, true, true])
  }

  @Test("O8: a connection that flaps adds each of its devices once, and a lost one none")
  func flaps() {
    var queue = AttachQueue()
    let devices = (0..<100).map(device)
    for _ in 0..<1_000 {
      for device in devices { queue.enqueue(device) }
      for device in devices { queue.remove(device) }
    }
    let now = Instant(milliseconds: 1_000)
    let idle = queue.admit(now: now)
    #expect(queue.waitingCount == 0 && idle.isEmpty)
    #expect(queue.entryCount <= AttachQueue.window.maximum, "flaps take no memory")
    // Several causes, such as a reconnection and a lost presence, may enqueue a device.
    for device in devices + devices { queue.enqueue(device) }
    queue.remove(device(50))
    queue.enqueue(device(50))
    #expect(queue.waitingCount == devices.count)
    let admitted = queue.admit(now: now)
    #expect(admitted == devices.filter { $0 != device(50) } + [device(50)])
    let again = queue.admit(now: now)
    #expect(again.isEmpty)
  }

  @Test("O8: a device that waits and is removed frees nobody's room")
  func removed() {
    var queue = AttachQueue()
    for number in 0..<1_000 { queue.enqueue(device(number)) }
    let now = Instant(milliseconds: 1_000)
    #expect(queue.admit(now: now).count == 256)
    for number in 256..<300 { queue.remove(device(number)) }
    #expect(queue.admit(now: now).isEmpty)
    for number in 0..<10 { queue.replied(to: device(number), now: now) }
    #expect(queue.admit(now: now) == (300..<310).map(device))
  }
}
