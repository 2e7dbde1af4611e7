@testable import DeviceScreen
import Testing
import Wording
import ZeroMQ

/// The clients of a screen's socket.
@Suite struct WatcherTests {
  private let start = MonotonicInstant(nanoseconds: 1_000_000_000)

  private func route(_ number: Int) -> [UInt8] { [0, UInt8(number)] }

  @Test("X4: at most 16 clients watch, and a forgotten client makes room") func limit() {
    var watchers = Watchers()
    for number in 0..<ScreenLimits.watchers {
      let isWatching = watchers.watch(route(number), .english, now: start)
      #expect(isWatching)
    }
    let isAboveLimit = watchers.watch(route(99), .english, now: start)
    #expect(!isAboveLimit)
    _ = watchers.watch(route(3), .french, now: start + ScreenLimits.silence)
    watchers.forgetSilent(now: start + ScreenLimits.silence)
    #expect(watchers.all.count == ScreenLimits.watchers)
    watchers.forgetSilent(now: start + ScreenLimits.silence + .milliseconds(1))
    #expect(Array(watchers.all.keys) == [route(3)])
    let hasRoom = watchers.watch(route(99), .english, now: start + .seconds(16))
    #expect(hasRoom)
  }

  @Test("X4: a client receives an update once, and again in another language") func updates() {
    var watchers = Watchers()
    let updates: [Language: [UInt8]] = [.english: [1], .french: [2]]
    _ = watchers.watch(route(1), .english, now: start)
    #expect(watchers.due(updates) == [route(1)])
    watchers.sent([1], to: route(1))
    #expect(watchers.due(updates) == [])
    _ = watchers.watch(route(1), .english, now: start)
    #expect(watchers.due(updates) == [])
    _ = watchers.watch(route(1), .french, now: start)
    #expect(watchers.due(updates) == [route(1)])
  }

  @Test("X4: updates wait for a client that has not written for many bytes") func unread() {
    var watchers = Watchers()
    _ = watchers.watch(route(1), .english, now: start)
    let half = [UInt8](repeating: 1, count: ScreenLimits.unreadBytes / 2)
    watchers.sent(half, to: route(1))
    watchers.sent(half, to: route(1))
    #expect(watchers.due([.english: [2]]) == [])
    _ = watchers.watch(route(1), .english, now: start)
    #expect(watchers.due([.english: [2]]) == [route(1)])
  }
}
