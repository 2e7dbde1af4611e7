public import Credentials
import FamilyTrust
public import Foundation
import ZeroMQ

/// The code and the keys of a device that joins, in a private file until the device has its
/// credential.
///
/// The relay binds a code to the keys of its first request, and a guardian signs these keys. A
/// device that lost them would leave a used code and a roster with a device that does not exist.
public struct PendingJoin: Sendable {
  /// The guardian's code.
  public let code: JoinCode
  let keys: CurveKeyPair
  let deviceKeys: DeviceKeys

  private struct File: Codable {
    var version = 1
    var code: String
    var secretKey: String
    var signingSecret: Data
    var agreementSecret: Data
  }

  /// Makes the device's keys.
  public init(_ code: JoinCode) throws {
    self.code = code
    keys = try CurveKeyPair.generate()
    deviceKeys = DeviceKeys()
  }

  /// The file beside the credential file.
  public static func file(beside credential: URL) -> URL {
    credential.appendingPathExtension("joining")
  }

  /// Reads the file.
  ///
  /// - Returns: `nil` without a file.
  /// - Throws: `PrivateFile.Failure` if the file is invalid, or readable by others.
  public init?(from file: URL) throws {
    guard FileManager.default.fileExists(atPath: file.path) else { return nil }
    let data = try PrivateFile.read(file)
    guard let content = try? JSONDecoder().decode(File.self, from: data), content.version == 1,
      let code = try? JoinCode(text: content.code),
      let keys = CurveKeyPair(secretZ85: content.secretKey),
      let deviceKeys = DeviceKeys(
        signingSecret: [UInt8](content.signingSecret),
        agreementSecret: [UInt8](content.agreementSecret))
    else {
      throw PrivateFile.Failure(
        description: "\(file.path) is not the file of an interrupted join. Remove it.")
    }
    (self.code, self.keys, self.deviceKeys) = (code, keys, deviceKeys)
  }

  /// Writes the file with mode 0600.
  public func write(to file: URL) throws {
    let content = File(
      code: code.text, secretKey: keys.secretZ85, signingSecret: Data(deviceKeys.signingSecret),
      agreementSecret: Data(deviceKeys.agreementSecret))
    try PrivateFile.write(try PrivateFile.encoder.encode(content), to: file)
  }
}
