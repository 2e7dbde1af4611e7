import Foundation

/// The control block of a process's shim, in a file that both processes map.
///
/// The shim may read at any time; each field is one aligned word.
final class Control: @unchecked Sendable {
  /// The operations of a store that fail, as in ChaosShim.h.
  struct Operations: OptionSet, Sendable {
    let rawValue: Int64
    static let reads = Operations(rawValue: 1)
    static let writes = Operations(rawValue: 2)
    static let syncs = Operations(rawValue: 4)
  }

  /// The fields of `chaos_control`.
  private static let words = 6
  private let words: UnsafeMutablePointer<Int64>

  init(_ file: URL) throws {
    let size = Self.words * MemoryLayout<Int64>.size
    try Data(count: size).write(to: file)
    let descriptor = open(file.path, O_RDWR)
    defer { close(descriptor) }
    let map = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
    guard descriptor >= 0, let map, map != MAP_FAILED else { throw CocoaError(.fileReadUnknown) }
    words = map.bindMemory(to: Int64.self, capacity: Self.words)
    heal()
  }

  /// Sets the offset of the process's wall clock, in milliseconds.
  func setClock(_ milliseconds: Int64) { words[0] = milliseconds }

  /// Sets the additional duration of each sync of a store, in milliseconds.
  func setSyncDelay(_ milliseconds: Int64) { words[1] = milliseconds }

  /// Sets the number of bytes by which the process's stores may still grow; `nil` for no limit.
  func setRoom(_ bytes: Int64?) { words[2] = bytes ?? -1 }

  /// Lets operations of the process's stores fail with EIO at this chance.
  func setErrors(_ operations: Operations, chance: Double, seed: UInt64 = 0) {
    words[5] = Int64(bitPattern: seed)
    words[4] = operations.rawValue
    words[3] = Int64(chance * 1_000_000)
  }

  /// Ends all faults.
  func heal() {
    setClock(0)
    setSyncDelay(0)
    setRoom(nil)
    setErrors([], chance: 0)
  }
}
