import ArgumentParser
import FamilyModel
import Foundation
import TextTable

/// A command's output: the same rows as a table for people and as JSON for programs.
struct Listing {
  struct Column {
    /// The column's heading; `nil` for a column in JSON only.
    let title: String?
    /// The key in JSON.
    let key: String

    init(_ title: String?, _ key: String? = nil) {
      self.title = title
      self.key = key ?? title!
    }
  }
  let columns: [Column]
  /// The rows; each has one cell per column.
  var rows: [[Cell]] = []

  var table: String {
    let shown = columns.indices.filter { columns[$0].title != nil }
    return Table.render(
      [shown.map { columns[$0].title! }] + rows.map { row in shown.map { row[$0].text } })
  }

  var json: String {
    let objects = rows.map { row in
      Cell.object(Dictionary(uniqueKeysWithValues: zip(columns.map(\.key), row)))
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    // Cells hold only text, numbers and lists, which always encode.
    let json = String(decoding: try! encoder.encode(objects), as: UTF8.self)
    // The encoder does not escape C1 controls, which some terminals execute.
    return json.replacing(/[\u{7F}-\u{9F}]/) { match in
      "\\u00" + String(match.output.unicodeScalars.first!.value, radix: 16)
    }
  }
}

extension Listing {
  /// A listing whose rows are about one child each: see ``add(_:_:)``.
  init(ofChildren columns: [Column]) {
    self.init(columns: [.init("child"), .init(nil, "childID")] + columns)
  }

  /// Adds a row about the child.
  mutating func add(_ child: Person, _ cells: Cell...) {
    rows.append([.text(child.displayName), .number(UInt64(child.id.rawValue))] + cells)
  }
}

/// A value that a table shows as text and JSON with its type.
indirect enum Cell: Encodable {
  case none
  case text(String)
  case number(UInt64)
  case flag(Bool)
  case time(Instant)
  case list([Cell])
  case object([String: Cell])
  /// One text in a table, another value in JSON.
  case shown(String, Cell)

  var text: String {
    switch self {
    case .none, .object: ""
    case .text(let text): text
    case .number(let number): "\(number)"
    case .flag(let flag): flag ? "yes" : "no"
    case .time(let instant): instant.local
    case .list(let cells): cells.map(\.text).joined(separator: ", ")
    case .shown(let text, _): text
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .none: try container.encodeNil()
    case .text(let text): try container.encode(text)
    case .number(let number): try container.encode(number)
    case .flag(let flag): try container.encode(flag)
    case .time(let instant): try container.encode(instant.iso8601)
    case .list(let cells): try container.encode(cells)
    case .object(let cells): try container.encode(cells)
    case .shown(_, let cell): try container.encode(cell)
    }
  }
}

extension Instant {
  /// The time, clamped to the years 1 to 9999, because apps choose expirations beyond them.
  private var date: Date {
    let seconds = Double(milliseconds) / 1_000
    return Date(timeIntervalSince1970: min(max(seconds, -62_135_596_800), 253_402_300_799))
  }

  /// The time in UTC for programs: `2026-07-30T14:05:33.120Z`.
  var iso8601: String { date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)) }

  /// The time in this machine's time zone for people: `2026-07-30 14:05:33`.
  var local: String {
    date.formatted(
      Date.ISO8601FormatStyle(timeZone: .current).year().month().day()
        .dateTimeSeparator(.space).time(includingFractionalSeconds: false))
  }
}

/// The options of every command that lists something.
struct OutputOptions: ParsableArguments {
  @Flag(help: "Print JSON with times in UTC instead of a table.") var json = false

  func show(_ listing: Listing, empty: String) {
    print(json ? listing.json : listing.rows.isEmpty ? empty : listing.table)
  }
}
