import Foundation

/// The control block of a process's shim, in a file that both processes map.
///
/// The shim may read at any time; each field is one aligned word.
final class Control: @unchecked Sendable {
  private let words: UnsafeMutablePointer<Int64>

  init(_ file: URL) throws {
    try Data(count: 24).write(to: file)
    let descriptor = open(file.path, O_RDWR)
    defer { close(descriptor) }
    let map = mmap(nil, 24, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
    guard descriptor >= 0, let map, map != MAP_FAILED else { throw CocoaError(.fileReadUnknown) }
    words = map.bindMemory(to: Int64.self, capacity: 3)
    heal()
  }

  /// Sets the offset of the process's wall clock, in milliseconds.
  func setClock(_ milliseconds: Int64) { words[0] = milliseconds }

  /// Sets the additional duration of each sync of a store, in milliseconds.
  func setSyncDelay(_ milliseconds: Int64) { words[1] = milliseconds }

  /// Sets the number of bytes by which the process's stores may still grow; `nil` for no limit.
  func setRoom(_ bytes: Int64?) { words[2] = bytes ?? -1 }

  func heal() {
    setClock(0)
    setSyncDelay(0)
    setRoom(nil)
  }
}
