import Foundation
import Yams

extension FamilyFile {
  /// Reads a file, and checks its keys and the kinds of its values.
  ///
  /// - Throws: `FamilyFileError` with one line for each error.
  static func read(_ path: String) throws -> FamilyFile {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
      throw FamilyFileError("Cannot read '\(path)'. `relayctl generate` prints an example.")
    }
    var errors: [FamilyFileError] = []
    let file: FamilyFile
    do {
      guard let root = try compose(yaml: text) else {
        throw FamilyFileError("'\(path)' is empty. `relayctl generate` prints an example.")
      }
      file = FamilyFile(FileNode(root, "the file"), &errors)
    } catch let error as YamlError {
      errors = [FamilyFileError(error)]
      file = FamilyFile(families: [])
    }
    guard errors.isEmpty else {
      throw FamilyFileError(
        "'\(path)' is not a family file. `relayctl generate` prints an example.\n"
          + errors.map(\.description).joined(separator: "\n"))
    }
    return file
  }

  init(_ node: FileNode, _ errors: inout [FamilyFileError]) {
    families = []
    guard node.check(keys: ["families"], &errors) else { return }
    let list = node.list("families", of: "a family", &errors)
    _ = node.required("families", list, &errors)
    families = list.compactMap { Family($0, &errors) }
  }
}

extension FamilyFile.Family {
  init?(_ node: FileNode, _ errors: inout [FamilyFileError]) {
    guard node.check(keys: ["id", "members"], &errors) else { return nil }
    let id: UInt64? = node.number("id", &errors)
    let members = node.list("members", of: "a member", &errors)
    _ = node.required("members", members, &errors)
    line = node.line
    self.members = members.compactMap { FamilyFile.Member($0, &errors) }
    guard let id = node.required("id", id, &errors) else { return nil }
    self.id = id
  }
}

extension FamilyFile.Member {
  init?(_ node: FileNode, _ errors: inout [FamilyFileError]) {
    guard node.check(keys: CodingKeys.allCases.map(\.rawValue), &errors) else { return nil }
    line = node.line
    id = node.number("id", &errors)
    region = node.text("region", &errors)
    timeZone = node.text("timeZone", &errors)
    checked = node.text("checked", &errors)
    birthdate = node.text("birthdate", &errors)
    devices = node.number("devices", &errors)
    limits = node.flag("limits", &errors)
    let (name, role) = (node.text("name", &errors), node.text("role", &errors))
    guard let name = node.required("name", name, &errors),
      let role = node.required("role", role, &errors)
    else { return nil }
    self.name = name
    self.role = role
  }
}

/// An error in a family file or its credential files, with the next step.
struct FamilyFileError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }

  /// - Parameter fault: The error without a full stop.
  init(line: Int, _ fault: String, _ advice: String = "") {
    description = "Line \(line): \(fault).\(advice.isEmpty ? "" : " ")\(advice)"
  }

  /// An error of the YAML itself.
  init(_ error: YamlError) {
    switch error {
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
      .composer(_, let problem, let mark, _):
      self.init(line: mark.line, "the file is not valid YAML: \(problem)")
    case .duplicatedKeysInMapping(let keys, let context):
      let names = keys.joined(separator: "', '")
      self.init(line: context.mark.line, "'\(names)' occurs twice")
    default: self.init("The file is not valid YAML: \(error)")
    }
  }
}
