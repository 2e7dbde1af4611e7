import ArgumentParser
import FamilyModel
import Foundation
import TextTable

/// What a command shows: the same rows as a table for people, and as JSON for programs.
struct Listing {
  struct Column {
    /// The head of the column; `nil`: it is in JSON only.
    let title: String?
    let key: String

    init(_ title: String?, _ key: String? = nil) {
      self.title = title
      self.key = key ?? title!
    }
  }
  let columns: [Column]
  /// As many cells in each as there are columns.
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
    // Text, numbers and lists of them can always be encoded.
    let json = String(decoding: try! encoder.encode(objects), as: UTF8.self)
    // The encoder leaves these as they are, and to some terminals they are commands.
    return json.replacing(/[\u{7F}-\u{9F}]/) { match in
      "\\u00" + String(match.output.unicodeScalars.first!.value, radix: 16)
    }
  }
}

/// A value that a table shows as text, and JSON as what it is.
indirect enum Cell: Encodable {
  case none
  case text(String)
  case number(UInt64)
  case flag(Bool)
  case time(Instant)
  case list([Cell])
  case object([String: Cell])
  /// This text in a table, the value in JSON.
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
  /// The years 1 to 9999: an app may name any moment as the end of a question, and these can be written.
  private var date: Date {
    let seconds = Double(milliseconds) / 1_000
    return Date(timeIntervalSince1970: min(max(seconds, -62_135_596_800), 253_402_300_799))
  }

  /// For programs: `2026-07-30T14:05:33.120Z`.
  var iso8601: String { date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)) }

  /// For people: `2026-07-30 14:05:33`, in the time zone of this machine.
  var local: String {
    date.formatted(
      Date.ISO8601FormatStyle(timeZone: .current).year().month().day()
        .dateTimeSeparator(.space).time(includingFractionalSeconds: false))
  }
}

/// What every command that shows something takes.
struct OutputOptions: ParsableArguments {
  @Flag(help: "JSON for programs, with times in UTC, instead of a table.") var json = false

  func show(_ listing: Listing, empty: String) {
    print(json ? listing.json : listing.rows.isEmpty ? empty : listing.table)
  }
}
