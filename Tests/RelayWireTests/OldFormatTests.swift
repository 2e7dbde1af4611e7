import FamilyModel
import FamilyTrust
import Foundation
import Testing
import ZeroMQ

@testable import Credentials

/// Files and codes of other versions are refused with an error that names the next step.
@Suite struct OldFormatTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
    "old-\(UUID().uuidString.prefix(8))")

  /// Changes the number in the file's field `version`.
  private func setVersion(_ version: Int, of file: URL) throws {
    let object = try JSONSerialization.jsonObject(with: Data(contentsOf: file))
    var content = try #require(object as? [String: Any])
    content["version"] = version
    try JSONSerialization.data(withJSONObject: content).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
  }

  private func refusal(_ body: () throws -> Void) -> String {
    do { try body() } catch { return "\(error)" }
    return "accepted"
  }

  private func credential() throws -> Credential {
    Credential(
      address: DeviceAddress(family: FamilyID(1), device: DeviceID(2)), personID: PersonID(3),
      role: .guardian, name: "Rosa", keys: try .generate(), deviceKeys: DeviceKeys(),
      organizerKey: .init(repeating: 4, count: 32), relayKey: try CurveKeyPair.generate().publicKey,
      requests: "tcp://relay:1", broadcasts: "tcp://relay:2")
  }

  @Test("X2: credentials of other versions are refused with the next step") func credentials()
    throws
  {
    let relay = try RelayKeys.create(in: folder)
    defer { try? FileManager.default.removeItem(at: folder) }
    #expect(relay.channelSecret.count == 32)
    let file = folder.appendingPathComponent("rosa.json")
    try credential().write(to: file)
    let administrator = AdministratorCredential.file(in: folder)
    #expect(refusal { _ = try Credential.read(from: file) } == "accepted")
    for version in [0, 1, 3] {
      try setVersion(version, of: file)
      #expect(refusal { _ = try Credential.read(from: file) }.contains("Run `relayctl apply`"))
    }
    for version in [0, 2] {
      try setVersion(version, of: administrator)
      #expect(
        refusal { _ = try AdministratorCredential.read(from: administrator) }
          .contains("Run `relayctl init`"))
      try setVersion(version, of: RelayKeys.file(in: folder))
      #expect(refusal { _ = try RelayKeys.read(from: folder) }.contains("Run `relayctl init`"))
    }
  }

  @Test("X2: a join code of another version is refused as such") func joinCodes() throws {
    let code = JoinCode(JoinTicket(), from: try credential())
    #expect(refusal { _ = try JoinCode(text: code.text) } == "accepted")
    for version: UInt8 in [0, 2] {
      let other = code.text(version: version)
      #expect(refusal { _ = try JoinCode(text: other) }.contains("another version"))
    }
    let short = String(code.text.dropLast())
    #expect(refusal { _ = try JoinCode(text: short) }.contains("not a complete"))
  }
}
