import ArgumentParser
import FamilyModel
import Foundation
import PrivateFiles
import ProgramOptions
import RelayStore
import SQLiteStore
import TextTable

struct CheckStore: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check-store",
    abstract: "Read each record of a stopped relay's store, and name what is damaged.",
    discussion: "The exit code is 65 if anything is damaged. To save the rest: relayctl export.")
  @Option(help: "The relay's folder.") var directory: String

  func run() throws {
    let path = SalvageReport.store(in: directory)
    let result = try StoreSalvage(path: path).run()
    print(SalvageReport(result).text)
    if !result.isWhole { throw ExitCode(ExitStatus.unreadableStore.rawValue) }
    if let damage = try Self.damage(beside: path) {
      print(
        "Damaged: \(damage). `relayctl export` makes heads and indexes again, and leaves out damaged "
          + "cursors and passcode locks.")
      throw ExitCode(ExitStatus.unreadableStore.rawValue)
    }
  }

  /// The damage of a store whose events are whole: of heads, cursors or the index.
  private static func damage(beside path: String) throws -> String? {
    do throws(StoreError) {
      let store = try SQLiteEventStore(path: path)
      defer { store.close() }
      return try store.findDamage(whole: .max).first?.detail
    } catch {
      guard error.isDamage else { throw error }
      return error.detail
    }
  }
}

struct Export: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Copy what is whole of a stopped relay to a new folder.",
    discussion: "A damaged family keeps its events before the damage. Devices notice that, and "
      + "give back what the relay lost.")
  @Option(help: "The relay's folder. Its records stay as they are.") var directory: String
  @Option(help: "The new folder.") var to: String
  @Option(
    help: .init(
      "Leave out this family, to erase it. Repeat the option for more.", valueName: "family"))
  var without: [UInt64] = []
  @Option(
    help: .init(
      "Erase the contents of this removed person, for example 7:3. Repeat the option for more.",
      valueName: "family:person"))
  var withoutPerson: [PersonName] = []

  func run() throws {
    let target = URL(fileURLWithPath: to)
    guard !FileManager.default.fileExists(atPath: target.path) else {
      throw ControlError("'\(target.path)' exists. Choose another --to.".printable)
    }
    let salvage = try StoreSalvage(path: SalvageReport.store(in: directory))
    let keys = try PrivateFile.read(
      URL(fileURLWithPath: directory).appendingPathComponent("relay.json"))
    try PrivateFile.createFolder(target)
    try PrivateFile.write(keys, to: target.appendingPathComponent("relay.json"))
    let store = try SQLiteEventStore(path: SalvageReport.store(in: to))
    defer { store.close() }
    let erasure: PersonErasure
    do { erasure = try PersonErasure(of: withoutPerson, in: salvage) } catch {
      try FileManager.default.removeItem(at: target)
      throw error
    }
    let result = try salvage.run(
      into: store, without: Set(without.map { FamilyID($0) }), changing: erasure.erased)
    if let missing = without.first(where: { result.erased[FamilyID($0)] == nil }) {
      try FileManager.default.removeItem(at: target)
      throw ControlError("The store has no family \(missing). Check --without.")
    }
    try store.check(whole: .max)
    print(SalvageReport(result).text)
    for (family, events) in result.erased.sorted(by: { $0.key < $1.key }) {
      print("\(events) events of family \(family.rawValue) are left out.")
    }
    if !withoutPerson.isEmpty { print("\(erasure.count) contents of removed persons are erased.") }
    if !without.isEmpty || !withoutPerson.isEmpty {
      print("Delete '\(directory)' and its backups to erase them.".printable)
    }
    print("Next: relay --directory \(to)".printable)
  }
}

/// The content and the losses of a store, for people.
private struct SalvageReport {
  let text: String

  static func store(in directory: String) -> String {
    URL(fileURLWithPath: directory).appendingPathComponent("relay.sqlite").path
  }

  init(_ result: StoreSalvage.Result) {
    let count = "\(result.events) events of \(result.families) families are whole."
    guard !result.isWhole else {
      text = count
      return
    }
    let rows = result.losses.map { ["\($0.family.rawValue)", "\($0.first)", "\($0.last)"] }
    text = """
      \(Table.render([["family", "first lost event", "newest known event"]] + rows))

      \(count) \(result.unreadable) records are unreadable.
      """
  }
}

extension StoreSalvage.Result {
  /// Whether nothing is lost.
  fileprivate var isWhole: Bool { losses.isEmpty && unreadable == 0 }
}
