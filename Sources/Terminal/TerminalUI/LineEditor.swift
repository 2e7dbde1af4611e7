import FamilyModel

/// Assembles a keyboard's bytes into lines, with erase keys, and skips the sequences of other keys.
///
/// The editor performs no output.
struct LineEditor: Sendable {
  /// The effect of a byte on the line.
  enum Event: Hashable, Sendable {
    case changed
    case line(String)
    /// Control-D on an empty line.
    case end
  }
  private enum Escape { case none, began, sequence }
  /// The maximum length of a line; further bytes are dropped.
  static let maximumBytes = 2 * Limits.textBytes

  /// The unfinished line.
  private(set) var text = ""
  private var pending: [UInt8] = []
  private var escape = Escape.none

  /// Empties the line and returns its text.
  mutating func clear() -> String {
    defer { text = "" }
    return text
  }

  mutating func prepend(_ text: String) { self.text = text + self.text }

  /// Applies one byte; `nil` if the line does not change.
  mutating func process(_ byte: UInt8) -> Event? {
    switch escape {
    case .none: break
    case .began:
      // ESC [ and ESC O begin a sequence; anything else is a single key.
      escape = byte == 0x5B || byte == 0x4F ? .sequence : .none
      return nil
    case .sequence:
      if 0x40...0x7E ~= byte { escape = .none }
      return nil
    }
    switch byte {
    case 0x0A, 0x0D: return .line(clear())
    case 0x04: return text.isEmpty ? .end : nil
    case 0x08, 0x7F: return erase { $0.removeLast() }
    case 0x15: return erase { $0.removeAll() }
    case 0x17:
      return erase { text in
        while text.last?.isWhitespace ?? false { text.removeLast() }
        while let last = text.last, !last.isWhitespace { text.removeLast() }
      }
    case 0x1B:
      escape = .began
      return nil
    case 0x09: return add(" ")
    case 0..<0x20: return nil
    case 0x20..<0x7F: return add(String(UnicodeScalar(byte)))
    default: return collect(byte)
    }
  }

  private mutating func erase(_ body: (inout String) -> Void) -> Event? {
    pending = []
    guard !text.isEmpty else { return nil }
    body(&text)
    return .changed
  }

  private mutating func add(_ more: String) -> Event? {
    pending = []
    guard text.utf8.count < Self.maximumBytes else { return nil }
    text += more
    return .changed
  }

  /// Collects the UTF-8 bytes of one scalar, and drops invalid sequences.
  private mutating func collect(_ byte: UInt8) -> Event? {
    if byte >= 0xC0 { pending = [] }
    pending.append(byte)
    let wanted = pending[0] >= 0xF0 ? 4 : pending[0] >= 0xE0 ? 3 : 2
    guard pending.count >= wanted else { return nil }
    defer { pending = [] }
    return String(validating: pending, as: UTF8.self).flatMap { add($0) }
  }
}
