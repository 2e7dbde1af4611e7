public import FamilyModel
public import Foundation

extension AppManifest {
  /// An error in a manifest.
  public struct Failure: Error, CustomStringConvertible {
    /// The error and its remedy, for people.
    public let description: String
  }

  private static let keys = [
    "name", "usesDeclaredAgeRange", "ageRating", "environment", "webhook",
  ]

  /// Reads an app's manifest: `{"name": "Landmarks", "usesDeclaredAgeRange": true, "ageRating": 9}`.
  /// An absent member is not declared.
  ///
  /// - Throws: `Failure` with the file's name if the file is missing, has an unknown key, or has a
  ///   value of the wrong kind. A rating is 4, 9, 13, 16 or 18, and a name has 1 to 256 bytes.
  public init(file: URL) throws {
    func failure(_ fault: String, key: String? = nil, in text: String = "") -> Failure {
      let line = key.flatMap { Self.line(of: $0, in: text) }.map { "line \($0): " } ?? ""
      return Failure(description: "The manifest '\(file.path)': \(line)\(fault)")
    }
    guard let data = try? Data(contentsOf: file) else {
      throw Failure(description: "Cannot read the manifest '\(file.path)'.")
    }
    let text = String(decoding: data, as: UTF8.self)
    let members: [String: Any]
    do {
      guard let found = try JSONSerialization.jsonObject(with: data) as? [String: Any] else {
        throw failure("the file is not a JSON object, such as {\"ageRating\": 9}.")
      }
      members = found
    } catch let error as NSError where error.domain == NSCocoaErrorDomain {
      let cause = error.userInfo[NSDebugDescriptionErrorKey] as? String ?? "not valid JSON."
      throw failure("the file is not valid JSON. \(cause)")
    }
    for key in members.keys.sorted() where !Self.keys.contains(key) {
      let advice = NearestWord.advice(key, in: Self.keys)
      throw failure("'\(key)' is not a key of a manifest. \(advice)", key: key, in: text)
    }
    func value<Value>(_ key: String, _ kind: String, _: Value.Type) throws -> Value? {
      guard let found = members[key] else { return nil }
      guard let value = found as? Value else {
        throw failure("'\(key)' is \(kind).", key: key, in: text)
      }
      return value
    }
    let uses = try value("usesDeclaredAgeRange", "true or false", Bool.self)
    let number = try value("ageRating", "4, 9, 13, 16 or 18", Int.self)
    let rating = number.flatMap { UInt8(exactly: $0) }.flatMap { AgeRating(rawValue: $0) }
    guard (number == nil) == (rating == nil) else {
      throw failure("the age rating must be 4, 9, 13, 16 or 18.", key: "ageRating", in: text)
    }
    let name = try value("name", "a text", String.self)
    guard 1...Limits.titleBytes ~= name?.utf8.count ?? 1 else {
      throw failure("a name has 1 to \(Limits.titleBytes) bytes.", key: "name", in: text)
    }
    let variables = try value("environment", "a list of names", [String].self) ?? []
    guard variables.count <= Limits.environmentNames, variables.allSatisfy(Self.isInheritable)
    else {
      throw failure(
        "'environment' has at most \(Limits.environmentNames) names of variables, such as "
          + "\"http_proxy\". The device sets HOME, TMPDIR and PERMISSION_RELAY_DEVICE itself.",
        key: "environment", in: text)
    }
    // The gateway reads the address. A device sends nothing to it.
    _ = try value("webhook", "a URL", String.self)
    self.init(
      usesDeclaredAgeRange: uses ?? false, ageRating: rating, name: name, environment: variables)
  }

  private static func isInheritable(_ name: String) -> Bool {
    1...Limits.identifierBytes ~= name.utf8.count
      && name.utf8.allSatisfy { $0 == 0x5f || (0x30...0x39 ~= $0) || (0x41...0x5a ~= $0 & 0xdf) }
      && !["HOME", "TMPDIR", "PERMISSION_RELAY_DEVICE"].contains(name)
  }

  /// The number of the first line that contains the key, from 1.
  private static func line(of key: String, in text: String) -> Int? {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .firstIndex { $0.contains("\"\(key)\"") }.map { $0 + 1 }
  }
}
