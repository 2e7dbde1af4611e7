import Foundation
import SystemPackage

/// A pseudoterminal that a test controls.
final class Terminal: Sendable {
  /// Linux's `TIOCGPTN` and `TIOCSPTLCK`, which Swift does not import.
  private static let (getNumber, setLock) = (UInt(0x8004_5430), UInt(0x4004_5431))

  private let screen: Int32
  private let name: String

  init() throws {
    screen = Foundation.open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var (number, unlocked) = (Int32(0), Int32(0))
    guard screen >= 0, ioctl(screen, Self.getNumber, &number) == 0,
      ioctl(screen, Self.setLock, &unlocked) == 0
    else { throw Errno(rawValue: errno) }
    name = "/dev/pts/\(number)"
  }

  deinit { close(screen) }

  /// Opens the terminal's side for a program's input or output.
  func open() throws -> FileDescriptor {
    let descriptor = Foundation.open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Errno(rawValue: errno) }
    return FileDescriptor(rawValue: descriptor)
  }

  /// The next output; `nil` after the last program has closed the terminal.
  func read() -> String? {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = Foundation.read(screen, &bytes, bytes.count)
    return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
  }

  func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = Foundation.write(screen, bytes, bytes.count)
  }
}
