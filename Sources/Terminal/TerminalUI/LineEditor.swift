import FamilyModel

/// Makes lines of the bytes that a keyboard sends: erases, skips what keys without a letter send, and
/// shows nothing by itself.
struct LineEditor: Sendable {
  /// What a byte leads to.
  enum Event: Hashable, Sendable {
    case changed
    case line(String)
    /// Control-D on an empty line.
    case end
  }
  private enum Escape { case none, began, sequence }
  /// Most bytes of a line; more are not taken.
  static let mostBytes = 2 * Limits.textBytes

  /// What is typed so far.
  private(set) var text = ""
  private var pending: [UInt8] = []
  private var escape = Escape.none

  /// Takes out what is typed, to put it back later.
  mutating func take() -> String {
    defer { text = "" }
    return text
  }

  mutating func put(_ text: String) { self.text = text + self.text }

  mutating func take(_ byte: UInt8) -> Event? {
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
    case 0x0A, 0x0D: return .line(take())
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
    guard text.utf8.count < Self.mostBytes else { return nil }
    text += more
    return .changed
  }

  /// Collects the bytes of one scalar.
  private mutating func collect(_ byte: UInt8) -> Event? {
    if byte >= 0xC0 { pending = [] }
    pending.append(byte)
    let wanted = pending[0] >= 0xF0 ? 4 : pending[0] >= 0xE0 ? 3 : 2
    guard pending.count >= wanted else { return nil }
    defer { pending = [] }
    return String(validating: pending, as: UTF8.self).flatMap { add($0) }
  }
}
