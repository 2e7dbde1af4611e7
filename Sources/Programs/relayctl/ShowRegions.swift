import ArgumentParser
import Credentials
import FamilyModel
import SystemClock
import TextTable

/// The option that replaces the built-in table of regions.
struct RegionOptions: ParsableArguments {
  @Option(
    help: .init("A table of regions in place of the built-in one.", valueName: "file"))
  var regions: String?

  func table() throws -> RegionTable { try RegionTable(file: regions) }
}

struct Regions: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show the law of regions concerning age on a day, and what changes when.",
    discussion: """
      The command needs no relay. Some acts cover only accounts made from a day on, so the \
      requirements are those of an account made on --made. No lawyer has checked the built-in \
      table; docs/AgeLaw.md explains its columns. With --regions the command checks a file that \
      child-agent reads, and names the first wrong line.
      """)
  @Argument(help: "Regions such as FR or US-TX (default: every region of the table).")
  var codes: [String] = []
  @Option(help: "The day, for example 2027-05-06 (default: today).", transform: Self.day)
  var on: Account.Day?
  @Option(
    help: "The day on which the account was made (default: the day of --on).", transform: Self.day)
  var made: Account.Day?
  @OptionGroup var options: RegionOptions
  @OptionGroup var output: OutputOptions

  private static func day(_ text: String) throws -> Account.Day {
    guard let day = Account.Day(iso: text) else {
      throw ValidationError("'\(text)' is no day such as 2027-05-06.")
    }
    return day
  }

  func validate() throws {
    for code in codes where !Account.isRegion(code) {
      throw ValidationError("'\(code)' is no region such as FR or US-TX.")
    }
  }

  func run() throws {
    let table = try options.table()
    let today = on ?? Account.Day(.now, in: "")
    var listing = Listing(
      columns: [
        .init("region"), .init("majority"), .init(nil, "minorBelow"), .init("eligible"),
        .init("duties"), .init("gates"), .init("next change", "changes"), .init("confidence"),
        .init(nil, "majorityStatute"), .init(nil, "act"), .init(nil, "source"),
      ])
    for code in codes.isEmpty ? table.lines.map(\.code) : codes {
      listing.rows.append(row(code, table, today))
    }
    if !output.json {
      print(
        "On \(today.iso), for an account made on \((made ?? today).iso). No lawyer has checked this."
      )
    }
    output.show(listing, empty: "The table has no region.")
  }

  /// A later change of the requirements.
  private struct Change {
    var day: Account.Day
    /// Whether the change concerns only accounts made on the day or later.
    var isForNewAccounts: Bool
    var text: String

    var shown: String { "\(day.iso)\(isForNewAccounts ? ", new accounts" : ""): \(text)" }
    var cell: Cell {
      .object([
        "on": .text(day.iso), "accounts": .text(isForNewAccounts ? "new" : "this"),
        "what": .text(text),
      ])
    }
  }

  /// The changes for the account and, without --made, those for accounts made on each later day.
  private func changes(_ code: String, _ table: RegionTable, after today: Account.Day) -> [Change] {
    func law(_ made: Account.Day, _ on: Account.Day) -> Region {
      table.region(code, accountMade: made, on: on)
    }
    var changes: [Change] = []
    let account = made ?? today
    var last = today
    for day in table.days(of: code) where day > today {
      let (old, new) = (law(account, last), law(account, day))
      if new != old {
        changes.append(Change(day: day, isForNewAccounts: false, text: new.changes(since: old)))
      } else if made == nil, law(day, day) != law(last, last) {
        changes.append(
          Change(
            day: day, isForNewAccounts: true, text: law(day, day).changes(since: law(last, last))))
      }
      last = day
    }
    return changes
  }

  private func row(_ code: String, _ table: RegionTable, _ today: Account.Day) -> [Cell] {
    let region = table.region(code, accountMade: made ?? today, on: today)
    let line = table.line(code)
    let changes = changes(code, table, after: today)
    return [
      .text(code), .number(UInt64(region.majority)), .number(UInt64(region.minorBelow)),
      .flag(region.isEligible),
      .shown(region.dutyNames.joined(separator: ", "), .list(region.dutyNames.map(Cell.text))),
      .list(region.gates.map { .number(UInt64($0)) }),
      .shown(changes.first?.shown ?? "", .list(changes.map(\.cell))),
      line.map { .text($0.confidence.rawValue) } ?? .shown("default", .none),
      line.map { .text($0.majorityStatute) } ?? .none, line.map { .text($0.act) } ?? .none,
      line.map { .text($0.source) } ?? .none,
    ]
  }
}

extension Region {
  /// The duties as a person reads them.
  var dutyNames: [String] { features.names }

  /// The differences from an earlier day.
  fileprivate func changes(since before: Region) -> String {
    var parts: [String] = []
    if majority != before.majority { parts.append("majority \(majority)") }
    let begun = features.subtracting(before.features).names
    let ended = before.features.subtracting(features).names
    if !begun.isEmpty { parts.append("begins: \(begun.joined(separator: ", "))") }
    if !ended.isEmpty { parts.append("ends: \(ended.joined(separator: ", "))") }
    if isEligible != before.isEligible, begun.isEmpty, ended.isEmpty {
      parts.append(isEligible ? "eligible" : "not eligible")
    }
    if parts.isEmpty { parts.append("gates \(gates.map { "\($0)" }.joined(separator: " "))") }
    return parts.joined(separator: "; ")
  }
}

extension RegulatoryFeatures {
  /// The duties as a person reads them.
  var names: [String] {
    var names: [String] = []
    if contains(.declaredAgeRangeRequired) { names.append("age range") }
    if contains(.significantAppChangeRequiresParentalConsent) { names.append("parental consent") }
    if contains(.significantAppChangeRequiresAdultNotification) {
      names.append("adult notification")
    }
    return names
  }
}
