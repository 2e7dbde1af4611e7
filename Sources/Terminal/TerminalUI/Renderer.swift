package import FamilyModel
package import Foundation
package import Wording

/// Draws rows of at most `columns` columns, in the person's language.
package struct Renderer: Sendable {
  package let wording: Wording
  let columns: Int
  package let now: Instant
  let timeZone: TimeZone
  let pictures: Pictures
  /// The apps as people read them: with their names on a child's screen, and with their names and
  /// identifiers on a guardian's.
  let appNames: [AppID: String]
  /// The minimum width of rows, even in a narrower terminal.
  package static let minimumColumns = 20

  package init(
    _ wording: Wording, columns: Int, now: Instant, timeZone: TimeZone = .current,
    pictures: Pictures = Pictures(), appNames: [AppID: String] = [:]
  ) {
    self.appNames = appNames
    self.wording = wording
    self.pictures = pictures
    self.columns = max(Self.minimumColumns, columns)
    self.now = now
    self.timeZone = timeZone
  }

  /// The app as people read it; without a name, its identifier.
  package func name(of app: AppID) -> String { appNames[app] ?? app.rawValue }

  /// The time of day, with the date unless it is today.
  package func time(_ at: Instant) -> String {
    let locale = Locale(identifier: wording.language.rawValue)
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = timeZone
    let (date, today) = (Self.date(at), Self.date(now))
    let isToday = calendar.isDate(date, inSameDayAs: today)
    return date.formatted(
      Date.FormatStyle(
        date: isToday ? .omitted : .abbreviated, time: .shortened, locale: locale,
        calendar: calendar, timeZone: timeZone))
  }

  private static func date(_ at: Instant) -> Date {
    Date(timeIntervalSince1970: Double(at.milliseconds) / 1_000)
  }

  /// Seconds from now until a moment, rounded up; 0 if the moment has passed.
  package func seconds(until moment: Instant) -> Int64 {
    max(.zero, moment - now + .milliseconds(999)) / .seconds(1)
  }

  /// The choice as people read it: what it does, when an approval ends, and the app's title.
  ///
  /// - Parameter decision: The time of the decision; `nil`: now.
  package func title(_ choice: Choice, decidedAt decision: Instant? = nil) -> String {
    let end = choice.end?.moment(decidedAt: decision ?? now)
    return wording.choice(choice, until: end.map { wording(.until, time($0)) })
  }

  /// A number of bytes in B or KB, rounded up.
  func size(_ bytes: Int) -> String {
    bytes < 1_024 ? "\(bytes) B" : "\((bytes + 1_023) / 1_024) KB"
  }

  func text(_ text: String, _ style: Style = .plain) -> [Row] {
    [Row](text, style, in: columns)
  }

  func centred(_ text: String, _ style: Style = .faint) -> [Row] {
    [Row](text, style, in: columns - 4).map { $0.indented((columns - $0.cells) / 2) }
  }

  /// A row at the right edge.
  func right(_ text: String, _ style: Style = .faint) -> Row {
    let row = Row(text.displaySafe.shortened(columns), style)
    return row.indented(columns - row.cells)
  }

  /// A line across the screen with a title in it.
  func rule(_ title: String) -> Row {
    let title = " \(title.displaySafe.shortened(columns - 8)) "
    return Row("──", .faint) + Row(title, .bold)
      + Row(String(repeating: "─", count: columns - 2 - title.cells), .faint)
  }

  /// A menu of labels with the key for each: in one row if it fits, else one row per item.
  func menu(_ items: [(key: String, label: String)], in width: Int? = nil) -> [Row] {
    let width = width ?? columns
    let single = items.map { Row("[\($0.key)] ", .key) + Row($0.label) }
    let line = single.dropFirst().reduce(single.first ?? Row()) { $0 + Row("  ") + $1 }
    if line.cells <= width { return [line] }
    return items.flatMap { hanging(Row("[\($0.key)] ", .key), $0.label, in: width) }
  }

  /// A numbered menu.
  func menu(_ labels: [String]) -> [Row] {
    menu(labels.enumerated().map { (key: "\($0 + 1)", label: $1) })
  }

  /// A mark and a text with hanging indent.
  func hanging(_ mark: Row, _ text: String, _ style: Style = .plain, in width: Int? = nil) -> [Row]
  {
    let width = width ?? columns
    return text.wrapped(max(4, width - mark.cells)).enumerated().map { index, line in
      index == 0 ? mark + Row(line, style) : Row(line, style).indented(mark.cells)
    }
  }
}
