import FamilyModel
import Testing

@testable import FamilyCore

/// The messages about the use of the web that an app keeps for its device.
struct WebUseQueueTests {
  @Test("S5: a device that confirms the highest number does not stop the app")
  func highest() {
    var queue = WebUseQueue()
    _ = queue.remove(through: .max)
    queue.add(ShownPages(seconds: 5), at: Instant(milliseconds: 1))
    #expect(queue.requests(again: false) == [.useWeb(.max, ShownPages(seconds: 5))])
  }
}
