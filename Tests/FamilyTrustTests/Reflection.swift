import RelayWire

@testable import FamilyCore

/// The complete state of a machine as text, by reflection: all stored properties, also those that a
/// later change adds. Dictionaries and sets are sorted.
struct Reflection {
  /// Properties that are not state: the keys and codings, the means and the traces of the start.
  static let ignored: Set<String> = [
    "vault", "coding", "snapshots", "digest", "blind", "calendar", "regions", "restored",
    "hasIgnoredSnapshot", "coverage", "draft", "snapshotChange", "restoredChild",
    "storage", "uncovered", "requestedSnapshot", "lastSnapshotRequest", "fruitlessRequests",
  ]

  private(set) var lines: [String] = []

  init(_ value: Any) { add(value, "", at: "") }

  /// The first line that differs; `nil` for equal states.
  func difference(_ other: Reflection) -> String? {
    for (one, two) in zip(lines, other.lines) where one != two { return "\(one) | \(two)" }
    return lines.count == other.lines.count ? nil : "\(lines.count) | \(other.lines.count) lines"
  }

  private mutating func add(_ value: Any, _ label: String, at path: String) {
    if Self.ignored.contains(label) { return }
    let path = "\(path).\(label)"
    if let bytes = value as? [UInt8] { return lines.append("\(path) \(bytes)") }
    if let archived = value as? EvidenceArchive.Archived {
      return lines.append("\(path) \(String(describing: archived.event(SnapshotCoding())))")
    }
    if let form = value as? OwnStatements.Entry.Form {
      return lines.append("\(path) \(String(describing: form.command(SnapshotCoding())))")
    }
    let mirror = Mirror(reflecting: value)
    switch mirror.displayStyle {
    case .dictionary, .set:
      let parts = mirror.children.map { Reflection($0.value).lines.joined(separator: " ") }
      for part in parts.sorted() { lines.append("\(path) \(part)") }
    case nil: lines.append("\(path) \(value)")
    case .enum where mirror.children.isEmpty: lines.append("\(path) \(value)")
    default:
      if mirror.children.isEmpty { lines.append("\(path) empty") }
      if let name = mirror.displayStyle, name == .enum {
        lines.append("\(path) \(mirror.children.first?.label ?? "")")
      }
      for (index, child) in mirror.children.enumerated() {
        add(child.value, child.label ?? "\(index)", at: path)
      }
    }
  }
}

extension Reflection {
  /// The stored properties and the cases that the value has, with their types: `Person.id`.
  static func shape(of value: Any) -> Set<String> {
    if value is [UInt8] { return [] }
    let mirror = Mirror(reflecting: value)
    var shape: Set<String> = []
    for child in mirror.children {
      let label = child.label ?? ""
      if ignored.contains(label) { continue }
      switch mirror.displayStyle {
      case .collection, .dictionary, .set, .optional, .tuple: break
      default: shape.insert("\(type(of: value)).\(label)")
      }
      shape.formUnion(Self.shape(of: child.value))
    }
    return shape
  }
}
