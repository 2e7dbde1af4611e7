import FamilyModel

/// How short of memory the process is.
///
/// `normal` → (three quarters of the limit in use) `tight` → (seven eighths) `critical`. Each level ends
/// a sixteenth of the limit below its beginning, so that a process at its limit does not alternate.
///
/// | level | what is refused |
/// |---|---|
/// | `tight` | new connections, and reads of families for unknown keys; queues have a fraction of their limits; a Unix socket's peer that sends faster than the relay reads is closed |
/// | `critical` | also attachments and pages, with a retry time; peers that do not read are closed within a second, and a Unix socket's peers that complete no request within two |
///
/// Commands are never refused for lack of memory: answers end work.
public struct MemoryWatch: Sendable {
  /// The levels, ascending.
  public enum Level: Int, Sendable, Comparable {
    case normal
    case tight
    case critical

    public static func < (a: Level, b: Level) -> Bool { a.rawValue < b.rawValue }
  }

  /// The time between two looks at the memory.
  static let interval = Milliseconds.milliseconds(250)
  /// The parts of the limit at which a level begins, in sixteenths.
  private static let begins = [(Level.critical, 14), (.tight, 12)]

  /// Bytes that the process may use; 0 turns the watch off.
  let limit: Int
  /// The present level.
  private(set) var level = Level.normal
  private var due = Milliseconds.zero

  init(limit: Int) { self.limit = limit }

  /// Looks at the memory if a look is due.
  ///
  /// - Parameters:
  ///   - uptime: The time since the machine's start.
  ///   - inUse: The bytes in use; `nil` if unknown, which changes nothing.
  mutating func look(uptime: Milliseconds, inUse: () -> Int?) {
    guard limit > 0, uptime >= due else { return }
    due = uptime + Self.interval
    guard let inUse = inUse() else { return }
    level =
      Self.begins.first { begin, sixteenths in
        inUse >= limit / 16 * (level >= begin ? sixteenths - 1 : sixteenths)
      }?.0 ?? .normal
  }
}

extension Pipeline {
  /// How short of memory the process is.
  package var memoryLevel: MemoryWatch.Level { memory.level }

  /// Looks at the memory.
  func lookAtMemory(uptime: Milliseconds) {
    memory.look(uptime: uptime, inUse: configuration.memoryInUse)
  }
}
