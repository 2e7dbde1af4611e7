package import Foundation

/// Reads a JSON value strictly: an unknown member of an object is an error.
package struct JSONReader {
  let value: JSONValue
  let path: String

  /// A reader of a body.
  package init(_ value: JSONValue, path: String = "") {
    self.value = value
    self.path = path
  }

  func invalid(_ reason: String) -> InvalidBody { InvalidBody(path: path, reason: reason) }

  /// Reads an object.
  ///
  /// - Parameter names: The names of all members that the object may have.
  package func object(_ names: String...) throws(InvalidBody) -> JSONMembers {
    guard case .object(let members) = value else { throw invalid("not an object") }
    for name in members.keys.sorted() where !names.contains(name) {
      throw InvalidBody(path: joined(name), reason: "not a known member")
    }
    return JSONMembers(members: members, reader: self)
  }

  /// Reads an array with this number of elements.
  package func array(_ counts: ClosedRange<Int>) throws(InvalidBody) -> [JSONReader] {
    guard case .array(let values) = value else { throw invalid("not an array") }
    guard counts ~= values.count else {
      throw invalid("not of \(counts.lowerBound) to \(counts.upperBound) elements")
    }
    return values.enumerated().map { JSONReader($1, path: "\(path)[\($0)]") }
  }

  package func string() throws(InvalidBody) -> String {
    guard case .string(let value) = value else { throw invalid("not a string") }
    return value
  }

  /// Reads a whole number.
  package func integer<N: FixedWidthInteger>(_ type: N.Type = N.self) throws(InvalidBody) -> N {
    guard case .number(let value) = value, let number = N(exactly: value) else {
      throw invalid("not a whole number in its range")
    }
    return number
  }

  package func number() throws(InvalidBody) -> Double {
    guard case .number(let value) = value else { throw invalid("not a number") }
    return value
  }

  /// Reads one of the names.
  func one<Value>(of values: KeyValuePairs<String, Value>) throws(InvalidBody) -> Value {
    let name = try string()
    guard let value = values.first(where: { $0.key == name })?.value else {
      throw invalid("none of \(values.map(\.key).joined(separator: ", "))")
    }
    return value
  }

  /// Reads a time of RFC 3339.
  func time() throws(InvalidBody) -> Date {
    let text = try string()
    // Foundation's style with fractions reads no time without one.
    for style in [Date.wholeSeconds, Date.fractionalSeconds] {
      if let date = try? style.parse(text) { return date }
    }
    throw invalid("not a time such as 2026-11-24T17:00:00.000Z")
  }

  fileprivate func joined(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }
}

/// The members of an object. A member that is null counts as absent.
package struct JSONMembers {
  let members: [String: JSONValue]
  let reader: JSONReader

  /// The member's reader; `nil` without it.
  package func optional(_ name: String) -> JSONReader? {
    guard let value = members[name], value != .null else { return nil }
    return JSONReader(value, path: reader.joined(name))
  }

  /// The member's reader.
  package func required(_ name: String) throws(InvalidBody) -> JSONReader {
    guard let member = optional(name) else {
      throw InvalidBody(path: reader.joined(name), reason: "missing")
    }
    return member
  }
}

extension Date {
  fileprivate static var wholeSeconds: Date.ISO8601FormatStyle { Date.ISO8601FormatStyle() }
  fileprivate static var fractionalSeconds: Date.ISO8601FormatStyle {
    Date.ISO8601FormatStyle(includingFractionalSeconds: true)
  }

  /// The time in RFC 3339 with milliseconds, in UTC.
  package var rfc3339: String { formatted(Self.fractionalSeconds) }
}
