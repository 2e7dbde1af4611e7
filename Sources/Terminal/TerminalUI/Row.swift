/// How a piece of a row looks, where the terminal has colours.
enum Style: String, Sendable {
  case plain = ""
  case faint = "2"
  case bold = "1"
  /// What can be typed.
  case key = "1;36"
  /// What wants an answer.
  case question = "33"
  /// What the person wrote.
  case own = "34"
  case good = "32"
  case bad = "31"
  /// Black on white, whatever the terminal's colours are.
  case paper = "30;107"
}

/// One row of the screen: pieces of text, each with its style. Nothing in them is a control.
struct Row: Hashable, Sendable, ExpressibleByStringLiteral {
  struct Piece: Hashable, Sendable {
    var text: String
    var style: Style
  }
  var pieces: [Piece]

  init(_ text: String = "", _ style: Style = .plain) {
    pieces = [Piece(text: text.shown, style: style)]
  }

  init(pieces: [Piece]) { self.pieces = pieces }

  init(stringLiteral text: String) { self.init(text) }

  var text: String { pieces.map(\.text).joined() }
  var cells: Int { pieces.reduce(0) { $0 + $1.text.cells } }

  static func + (a: Row, b: Row) -> Row { Row(pieces: a.pieces + b.pieces) }

  /// The row behind so many spaces.
  func indented(_ columns: Int) -> Row {
    columns > 0 ? Row(String(repeating: " ", count: columns)) + self : self
  }

  /// The row with spaces up to this width.
  func padded(_ columns: Int) -> Row {
    cells < columns ? self + Row(String(repeating: " ", count: columns - cells)) : self
  }

  /// The bytes for the terminal.
  func rendered(colours: Bool) -> String {
    guard colours else { return text }
    return pieces.map { piece in
      piece.style == .plain ? piece.text : "\u{1B}[\(piece.style.rawValue)m\(piece.text)\u{1B}[0m"
    }.joined()
  }
}

extension [Row] {
  /// The rows of a text in so many columns.
  init(_ text: String, _ style: Style = .plain, in columns: Int) {
    self = text.wrapped(columns).map { Row($0, style) }
  }
}
