import Wording
import ZeroMQ

/// The clients that receive updates, by their routing ids.
///
/// - (watch) `watching`. `watching` → (silence, or an unreachable connection) forgotten.
struct Watchers {
  struct Watcher {
    var language: Language
    var heard: MonotonicInstant
    /// The last update that libzmq accepted; `nil`: none in this language.
    var update: [UInt8]?
    /// The bytes sent since the client's last message.
    var unread = 0
  }

  private(set) var all: [[UInt8]: Watcher] = [:]

  var isEmpty: Bool { all.isEmpty }
  var languages: Set<Language> { Set(all.values.map(\.language)) }

  /// Adds or renews a client.
  ///
  /// - Returns: Whether the client watches; `false` at the limit.
  mutating func watch(
    _ route: [UInt8], _ language: Language, now: MonotonicInstant
  ) -> Bool {
    guard var watcher = all[route] else {
      guard all.count < ScreenLimits.watchers else { return false }
      all[route] = Watcher(language: language, heard: now)
      return true
    }
    if watcher.language != language { watcher.update = nil }
    watcher.language = language
    watcher.heard = now
    watcher.unread = 0
    all[route] = watcher
    return true
  }

  /// Forgets the clients without a message for ``ScreenLimits/silence``.
  mutating func forgetSilent(now: MonotonicInstant) {
    all = all.filter { $0.value.heard + ScreenLimits.silence >= now }
  }

  mutating func forget(_ route: [UInt8]) { all[route] = nil }

  /// The clients that lack the update of their language and have read enough.
  func due(_ updates: [Language: [UInt8]]) -> [[UInt8]] {
    all.compactMap { route, watcher in
      guard let update = updates[watcher.language], watcher.update != update,
        watcher.unread + update.count <= max(ScreenLimits.unreadBytes, update.count)
      else { return nil }
      return route
    }
  }

  /// Records that libzmq has accepted an update.
  mutating func sent(_ update: [UInt8], to route: [UInt8]) {
    all[route]?.update = update
    all[route]?.unread += update.count
  }
}
