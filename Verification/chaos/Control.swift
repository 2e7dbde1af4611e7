import Foundation

/// What chaos tells the shim in a process, through a file that both have mapped.
///
/// The process may read at any moment; each field is one aligned word.
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

  /// Milliseconds by which the process's wall clock is wrong.
  func setClock(_ milliseconds: Int64) { words[0] = milliseconds }

  /// Milliseconds that each sync of a store takes longer.
  func setSyncDelay(_ milliseconds: Int64) { words[1] = milliseconds }

  /// Bytes by which the process's stores may still grow; `nil`: no bound.
  func setRoom(_ bytes: Int64?) { words[2] = bytes ?? -1 }

  func heal() {
    setClock(0)
    setSyncDelay(0)
    setRoom(nil)
  }
}
