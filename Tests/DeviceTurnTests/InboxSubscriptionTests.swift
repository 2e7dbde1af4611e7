import FamilyModel
import Testing
import ZeroMQ

@testable import DeviceTurn

@Suite struct InboxSubscriptionTests {
  private let start = MonotonicInstant.machineStart + .seconds(100)
  private let first = Inbox(process: 1, number: 4)

  @Test("O7: a connection subscribes once to the start of its inbox")
  func once() {
    var subscription = InboxSubscription()
    #expect(subscription.change(repeats: false, now: start) == nil)
    #expect(subscription.change(repeats: true, now: start) == nil)
    subscription.inbox = first
    let change = subscription.change(repeats: false, now: start)
    #expect(change?.subscribe == [0, 0, 1] && change?.unsubscribe == nil)
    #expect(subscription.change(repeats: false, now: start) == nil)
  }

  @Test("M5: a connection repeats its subscription for late devices, at most once a second")
  func repeated() {
    var subscription = InboxSubscription()
    subscription.inbox = first
    _ = subscription.change(repeats: false, now: start)
    let change = subscription.change(repeats: true, now: start)
    #expect(change?.unsubscribe == [0, 0, 1] && change?.subscribe == [0, 0, 1])
    let almost = start + .milliseconds(999)
    #expect(subscription.change(repeats: true, now: almost) == nil)
    #expect(subscription.change(repeats: true, now: start + .seconds(1)) != nil)
  }

  @Test("O7: a connection follows the relay to another inbox, also one of the same process")
  func moved() {
    var subscription = InboxSubscription()
    subscription.inbox = first
    _ = subscription.change(repeats: false, now: start)
    subscription.inbox = Inbox(process: 1, number: 9)
    let change = subscription.change(repeats: false, now: start)
    #expect(change?.unsubscribe == [0, 0, 1] && change?.subscribe == [0, 0, 1])
    subscription.inbox = Inbox(process: 2, number: 1)
    #expect(subscription.change(repeats: false, now: start)?.subscribe == [0, 0, 2])
  }
}
