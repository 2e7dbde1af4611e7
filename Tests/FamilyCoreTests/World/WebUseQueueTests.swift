import FamilyModel
import Testing

@testable import FamilyCore

/// The messages about the use of the web that an app keeps for its device.
struct WebUseQueueTests {
  private static let now = Instant(milliseconds: 1_000)
  private static let pages = ShownPages(seconds: 5)

  @Test("S5: a device that confirms the highest number does not stop the app")
  func highest() {
    var queue = WebUseQueue()
    _ = queue.remove(through: .max)
    queue.add(Self.pages, at: Instant(milliseconds: 1))
    #expect(queue.request(again: false) == .useWeb(.max, Self.pages))
    #expect(queue.remove(through: .max).isEmpty && queue.entries.isEmpty)
  }

  @Test("S5: a message that the device dropped is sent again, and no later one passes it")
  func dropped() {
    var queue = WebUseQueue()
    _ = queue.delete(.all, at: Self.now)
    #expect(queue.request(again: false) == .deleteWebUse(1_000, .all))
    queue.add(Self.pages, at: Self.now)
    #expect(queue.request(again: false) == nil)
    #expect(queue.request(again: true) == .deleteWebUse(1_000, .all))
    #expect(queue.remove(through: 1_000) == [.remove(.webDeletion(1_000, .all))])
    #expect(queue.request(again: false) == .useWeb(1_001, Self.pages))
    // The reply to the repetition.
    #expect(queue.remove(through: 1_000).isEmpty)
    #expect(queue.entries.count == 1)
  }

  @Test("S5, X3: an app whose clock was set back over a restart loses no deletion")
  func clockSetBack() {
    var queue = WebUseQueue()
    _ = queue.delete(.all, at: Self.now)
    queue.add(Self.pages, at: Self.now)
    _ = queue.request(again: false)
    // The device has counted messages of the former process, and not this one.
    let changes = queue.remove(through: 9_000)
    #expect(
      changes == [.remove(.webDeletion(1_000, .all)), .put(.webDeletion(9_001, .all))])
    #expect(queue.request(again: false) == .deleteWebUse(9_001, .all))
    #expect(queue.remove(through: 9_001) == [.remove(.webDeletion(9_001, .all))])
    #expect(queue.request(again: false) == .useWeb(9_002, Self.pages))
  }
}
