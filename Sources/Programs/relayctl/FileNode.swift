import Credentials
import Yams

/// A value of a family file with its line, and typed access to its keys.
///
/// Each accessor adds a sentence to `errors` for a value of the wrong kind, so that one reading of
/// the file reports all its errors.
struct FileNode {
  let node: Node
  /// The value's name in errors: `a member`.
  let noun: String
  /// The line, from 1.
  let line: Int

  init(_ node: Node, _ noun: String, line: Int = 1) {
    self.node = node
    self.noun = noun
    self.line = node.mark?.line ?? line
  }

  /// Checks that the value is a list of keys, and that each key is one of `keys`.
  func check(keys: [String], _ errors: inout [FamilyFileError]) -> Bool {
    guard let mapping = node.mapping else {
      errors.append(FamilyFileError(line: line, "\(noun) is a list of keys with values"))
      return false
    }
    for (key, _) in mapping {
      let name = key.string ?? ""
      guard !keys.contains(name) else { continue }
      errors.append(
        FamilyFileError(
          line: key.mark?.line ?? line, "'\(name)' is not a key of \(noun)",
          NearestWord.advice(name, in: keys)))
    }
    return true
  }

  /// The value of the key; `nil` without the key, or for an empty value.
  private subscript(_ key: String) -> Node? {
    guard let value = node.mapping?[key], value.null == nil else { return nil }
    return value
  }

  func required<Value>(_ key: String, _ value: Value?, _ errors: inout [FamilyFileError]) -> Value?
  {
    if self[key] == nil {
      errors.append(FamilyFileError(line: line, "\(noun) has no '\(key)'"))
    }
    return value
  }

  func text(_ key: String, _ errors: inout [FamilyFileError]) -> String? {
    guard let value = self[key] else { return nil }
    if let text = value.scalar?.string { return text }
    errors.append(FamilyFileError(line: value.mark?.line ?? line, "'\(key)' is one text"))
    return nil
  }

  func number<Number: FixedWidthInteger>(_ key: String, _ errors: inout [FamilyFileError])
    -> Number?
  {
    guard let value = self[key] else { return nil }
    if let number = (value.scalar?.string).flatMap({ Number($0) }) { return number }
    errors.append(
      FamilyFileError(
        line: value.mark?.line ?? line, "'\(key)' is a number from 0 to \(Number.max)"))
    return nil
  }

  func flag(_ key: String, _ errors: inout [FamilyFileError]) -> Bool? {
    guard let value = self[key] else { return nil }
    if let flag = value.bool { return flag }
    errors.append(FamilyFileError(line: value.mark?.line ?? line, "'\(key)' is true or false"))
    return nil
  }

  /// The items of a list; empty without the key.
  func list(_ key: String, of noun: String, _ errors: inout [FamilyFileError]) -> [FileNode] {
    guard let value = self[key] else { return [] }
    guard let items = value.sequence else {
      errors.append(
        FamilyFileError(
          line: value.mark?.line ?? line, "'\(key)' is a list, each item of which begins with '-'"))
      return []
    }
    return items.map { FileNode($0, noun, line: value.mark?.line ?? line) }
  }
}
