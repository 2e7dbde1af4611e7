package import Foundation

/// A JSON value.
package enum JSONValue: Hashable, Sendable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])
}

extension JSONValue: Codable {
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    // A wrong guess costs a thrown error, so the most frequent kinds come first.
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode([String: JSONValue].self) {
      self = .object(value)
    } else if let value = try? container.decode([JSONValue].self) {
      self = .array(value)
    } else {
      self = .bool(try container.decode(Bool.self))
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .number(let value):
      if let whole = Int64(exactly: value) {
        try container.encode(whole)
      } else {
        try container.encode(value)
      }
    case .string(let value): try container.encode(value)
    case .array(let values): try container.encode(values)
    case .object(let values): try container.encode(values)
    }
  }

  /// Parses a text.
  ///
  /// - Throws: ``InvalidBody`` for a text that is not JSON.
  package static func parse(_ bytes: Data) throws(InvalidBody) -> JSONValue {
    do { return try JSONDecoder().decode(JSONValue.self, from: bytes) } catch {
      throw InvalidBody(path: "", reason: "not valid JSON")
    }
  }

  /// The value as JSON with sorted keys, on one line.
  package var text: String { String(decoding: data, as: UTF8.self) }

  /// The bytes of ``text``.
  package var data: Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Every value can be encoded, because no number is infinite: JSON has none.
    return (try? encoder.encode(self)) ?? Data("null".utf8)
  }

  /// The object without the members that are `nil`.
  package static func object(of members: KeyValuePairs<String, JSONValue?>) -> JSONValue {
    .object(
      Dictionary(uniqueKeysWithValues: members.compactMap { key, value in value.map { (key, $0) } })
    )
  }

  /// A number.
  package static func number(_ value: some BinaryInteger) -> JSONValue { .number(Double(value)) }

  /// A string, or null.
  package static func orNull(_ value: String?) -> JSONValue { value.map(JSONValue.string) ?? .null }

  /// A number, or null.
  package static func orNull(_ value: (some BinaryInteger)?) -> JSONValue {
    value.map { .number(Double($0)) } ?? .null
  }
}

/// A request's body that is not as documented.
package struct InvalidBody: Error, Hashable, Sendable, CustomStringConvertible {
  /// The place in the body, such as `about.people[0].handle`; empty: the body itself.
  package var path: String
  /// The reason.
  package var reason: String

  package init(path: String, reason: String) {
    self.path = path
    self.reason = reason
  }

  package var description: String {
    path.isEmpty ? "The body is \(reason)." : "\(path) is \(reason)."
  }
}
