import FamilyModel

/// Whether the store's disk has room for further writes.
///
/// `roomy` → (less than the reserve is free) `full` → (a quarter more than the reserve is free) `roomy`.
/// In between nothing changes, so that a disk at its limit does not alternate.
struct SpaceWatch {
  /// The time between two looks at the disk.
  static let interval = Milliseconds.seconds(1)

  /// The bytes that must stay free; 0 turns the watch off.
  let reserve: Int
  private(set) var isFull = false
  private var due = Milliseconds.zero

  init(reserve: Int) { self.reserve = reserve }

  /// Looks at the disk if a look is due.
  ///
  /// - Parameters:
  ///   - uptime: The time since the machine's start.
  ///   - free: The bytes that are free; `nil` if unknown, which changes nothing.
  /// - Returns: Whether the state has changed.
  mutating func look(uptime: Milliseconds, free: () -> Int?) -> Bool {
    guard reserve > 0, uptime >= due else { return false }
    due = uptime + Self.interval
    guard let free = free() else { return false }
    let before = isFull
    isFull = free < (isFull ? reserve + reserve / 4 : reserve)
    return isFull != before
  }
}

extension Pipeline {
  /// Whether commands are refused with problem 501, because the disk has less than its reserve.
  package var isFull: Bool { space.isFull }

  /// Looks at the disk. A full one refuses every request that the store would have to write.
  func lookAtSpace(uptime: Milliseconds) {
    guard space.look(uptime: uptime, free: configuration.freeBytes) else { return }
    for worker in shards.workers { worker.setFull(space.isFull) }
  }
}

extension Request {
  /// Whether the relay cannot reply before it has written.
  var needsCommit: Bool {
    switch self {
    case .command, .evaluate: true
    case .attach, .fetch, .acknowledge, .ping, .present, .join: false
    }
  }
}
