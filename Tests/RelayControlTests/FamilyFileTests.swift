import Foundation
import Testing

/// Errors of family files, as `relayctl check` reports them without a relay.
@Suite struct FamilyFileTests {
  private func check(_ text: String) async throws -> Outcome {
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("ff-\(UUID().uuidString.prefix(8)).yaml")
    defer { try? FileManager.default.removeItem(at: file) }
    try text.write(to: file, atomically: true, encoding: .utf8)
    return try await RelayControlFixture.run("relayctl", ["check", file.path])
  }

  private static let family = """
    families:
      - id: 1
        members:
          - {name: Rosa, role: organizer}
          - name: Emily
            role: child
            WRONG
    """

  @Test(
    "F2: an unknown key is an error with its line and the nearest key",
    arguments: [
      ("birthday: 2014-05-17", "Line 7: 'birthday' is not a key of a member.", "'birthdate'?"),
      ("Devices: 2", "Line 7: 'Devices' is not a key of a member.", "'devices'?"),
      ("colour: red", "Line 7: 'colour' is not a key of a member.", "Choose id, name, role"),
      ("birthdate: 2035-01-01", "Line 5: family 1: Emily: the birthdate", "in the future"),
      ("birthdate: soon", "Line 5: family 1: Emily: 'soon' is not a day.", "2014-05-17"),
      ("region: France", "Line 5: family 1: Emily: 'France' is not a region.", "FR or US-TX"),
      (
        "checked: passport", "Line 5: family 1: Emily: 'passport'", "payment, governmentID or other"
      ),
      ("devices: two", "Line 7: 'devices' is a number", ""),
      ("limits: maybe", "Line 7: 'limits' is true or false.", ""),
      ("name: Rosa", "Line 5: 'name' occurs twice", ""),
      ("[", "is not valid YAML", "Line"),
    ])
  func wrongMember(_ line: String, _ fault: String, _ advice: String) async throws {
    let said = try await check(Self.family.replacingOccurrences(of: "WRONG", with: line))
    #expect(said.code == 1)
    let text = said.output + said.error
    #expect(text.contains(fault) && (advice.isEmpty || text.contains(advice)), "\(text)")
    for debug in ["Error Domain", "codingPath", "DecodingError"] { #expect(!text.contains(debug)) }
  }

  @Test("F2: all errors of a file are reported at once, and a valid file has none")
  func several() async throws {
    let wrong = Self.family.replacingOccurrences(of: "role: organizer", with: "rol: organizer")
      .replacingOccurrences(of: "WRONG", with: "birthday: 1")
    let said = try await check(wrong).error
    for fault in ["Line 4: 'rol'", "'role'?", "Line 7: 'birthday'"] {
      #expect(said.contains(fault), "\(said)")
    }
    let right = try await check(
      Self.family.replacingOccurrences(of: "WRONG", with: "{}").split(separator: "\n").dropLast()
        .joined(separator: "\n"))
    #expect(right.output == "The file describes 1 family and has no errors.\n")
    for text in ["", "families: 3", "family: []", "families:\n  - members: []"] {
      #expect(try await check(text).code == 1, "\(text)")
    }
  }

  @Test("F1: two members of one name are an error, also in another case")
  func names() async throws {
    let said = try await check(
      Self.family.replacingOccurrences(of: "Emily", with: "rosa")
        .replacingOccurrences(of: "WRONG", with: "limits: true"))
    #expect(said.error.contains("Line 5: family 1: two members are named 'rosa'"))
  }
}
