import Credentials
import FamilyModel
import Foundation

/// The communication limits that `apply` has set, by family and person.
///
/// A value of the family file is applied once, so that later choices of guardians are kept. The
/// record is a file beside the credentials, because the administrator cannot read conversations.
struct AppliedLimits {
  private let file: URL
  private var values: [String: Bool]

  /// Reads the record of a family; a missing file is an empty record.
  init(in folder: URL, of family: UInt64) throws {
    file = folder.appendingPathComponent("applied-limits-\(family).json")
    values =
      FileManager.default.fileExists(atPath: file.path)
      ? try JSONDecoder().decode([String: Bool].self, from: PrivateFile.read(file)) : [:]
  }

  /// The value that was applied last; `nil`: none.
  func value(of person: PersonID) -> Bool? { values["\(person.rawValue)"] }

  /// Records a value that the relay has accepted.
  mutating func record(_ isOn: Bool, of person: PersonID) throws {
    values["\(person.rawValue)"] = isOn
    try PrivateFile.write(try JSONEncoder().encode(values), to: file)
  }
}
