/// The style of a piece of a row, as the parameters of an SGR sequence.
enum Style: String, Sendable {
  case plain = ""
  case faint = "2"
  case bold = "1"
  /// A command or key that the person can type.
  case key = "1;36"
  /// A question or notice that needs attention.
  case question = "33"
  /// A message of the device's owner.
  case own = "34"
  case good = "32"
  case bad = "31"
  /// Black on white in every colour scheme, for QR codes.
  case paper = "30;107"
}

/// One row of the screen: styled pieces of text, free of control characters.
struct Row: Hashable, Sendable, ExpressibleByStringLiteral {
  struct Piece: Hashable, Sendable {
    var text: String
    var style: Style
  }
  var pieces: [Piece]

  init(_ text: String = "", _ style: Style = .plain) {
    pieces = [Piece(text: text.displaySafe, style: style)]
  }

  init(pieces: [Piece]) { self.pieces = pieces }

  init(stringLiteral text: String) { self.init(text) }

  var text: String { pieces.map(\.text).joined() }
  var cells: Int { pieces.reduce(0) { $0 + $1.text.cells } }

  static func + (a: Row, b: Row) -> Row { Row(pieces: a.pieces + b.pieces) }

  /// The row indented by `columns` spaces.
  func indented(_ columns: Int) -> Row {
    columns > 0 ? Row(String(repeating: " ", count: columns)) + self : self
  }

  /// The row padded with spaces to the width `columns`.
  func padded(_ columns: Int) -> Row {
    cells < columns ? self + Row(String(repeating: " ", count: columns - cells)) : self
  }

  /// The row's text, with SGR sequences if the terminal has colours.
  func rendered(colours: Bool) -> String {
    guard colours else { return text }
    return pieces.map { piece in
      piece.style == .plain ? piece.text : "\u{1B}[\(piece.style.rawValue)m\(piece.text)\u{1B}[0m"
    }.joined()
  }
}

extension [Row] {
  /// The rows of a text wrapped to `columns`.
  init(_ text: String, _ style: Style = .plain, in columns: Int) {
    self = text.wrapped(columns).map { Row($0, style) }
  }
}
