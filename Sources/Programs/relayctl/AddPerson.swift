import ArgumentParser
import Credentials
import FamilyModel
import FamilyTrust
import Foundation
import ZeroMQ

struct AddPerson: ExplainedCommand {
  enum Kind: String, ExpressibleByArgument, CaseIterable {
    case adult, child
    var role: Role { self == .adult ? .adult : .child }
  }

  static let configuration = CommandConfiguration(
    abstract: "Create the credential of a person who is in no family. No relay is needed.",
    discussion: """
      The person's device runs without a relay: apps get the default response to questions, and \
      the person's own settings hold. The person sets the own account in the device's terminal.
      """)
  @Argument(help: "The person's role.") var kind: Kind
  @Argument(help: "The person's name.") var name: String
  @Option(help: "The folder for the credential file.") var credentials: String

  func perform() throws {
    try Self.validate(name: name)
    let folder = URL(fileURLWithPath: credentials)
    try PrivateFile.createFolder(folder)
    let safe = String(name.map { $0 == "/" || $0 == "\0" ? "_" : $0 }.prefix(48))
    let file = folder.appendingPathComponent("family-0-\(safe)-1.json")
    guard !FileManager.default.fileExists(atPath: file.path) else {
      throw ControlError(
        "'\(file.path)' already exists. Choose another name or folder.".printable)
    }
    let keys = try CurveKeyPair.generate()
    let credential = Credential(
      address: DeviceAddress(family: FamilyID(0), device: try Self.freeDevice(in: folder)),
      personID: PersonID(1), role: kind.role, name: name, keys: keys, deviceKeys: DeviceKeys(),
      organizerKey: [], relayKey: keys.publicKey, requests: "", broadcasts: "")
    try credential.write(to: file)
    print("The credential of \(name) is \(file.path) (mode 0600).".printable)
    print(
      "Next: child-agent --interactive --credential '\(file.path)' --directory FOLDER".printable)
  }

  /// A number that no other person without a family has in this folder, because an agent hosts all
  /// credentials of a folder.
  private static func freeDevice(in folder: URL) throws -> DeviceID {
    let files = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    let used = files.filter { $0.lastPathComponent.hasPrefix("family-0-") }
      .compactMap { try? Credential.read(from: $0).address.device.rawValue }
    return DeviceID((used.max() ?? 0) + 1)
  }
}
