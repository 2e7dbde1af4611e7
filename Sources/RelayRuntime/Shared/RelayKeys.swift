public import Foundation
public import ZeroMQ

/// The relay's own secrets, in the file `relay.json` of its folder (mode 0600).
public struct RelayKeys: Sendable {
  /// What the relay is known by.
  public var keys: CurveKeyPair
  /// What the administrator is known by.
  public var administrator: CurveKeyPair
  /// 32 bytes from which the channels' topics and keys are made.
  public var channelSecret: [UInt8]

  private struct File: Codable {
    var version = 1
    var secretKey: String
    var administratorKey: String
    var channelSecret: Data
  }

  /// The file in the relay's folder.
  public static func file(in directory: URL) -> URL {
    directory.appendingPathComponent("relay.json")
  }

  /// Makes the secrets, unless they are there.
  public static func create(in directory: URL) throws -> RelayKeys {
    try FileManager.default.createDirectory(
      at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let file = file(in: directory)
    if FileManager.default.fileExists(atPath: file.path) { return try read(from: directory) }
    let new = RelayKeys(
      keys: try .generate(), administrator: try .generate(),
      channelSecret: (0..<32).map { _ in .random(in: .min ... .max) })
    let content = File(
      secretKey: new.keys.secretZ85, administratorKey: new.administrator.secretZ85,
      channelSecret: Data(new.channelSecret))
    try PrivateFile.write(try JSONEncoder().encode(content), to: file)
    return new
  }

  /// Reads the secrets.
  public static func read(from directory: URL) throws -> RelayKeys {
    let file = file(in: directory)
    guard FileManager.default.fileExists(atPath: file.path) else {
      throw PrivateFile.Failure(
        description:
          "There is no relay in \(directory.path): relayctl init --directory \(directory.path)")
    }
    let content = try JSONDecoder().decode(File.self, from: try PrivateFile.read(file))
    guard let keys = CurveKeyPair(secretZ85: content.secretKey),
      let administrator = CurveKeyPair(secretZ85: content.administratorKey),
      content.channelSecret.count == 32
    else { throw PrivateFile.Failure(description: "\(file.path) is not a relay's key file.") }
    return RelayKeys(
      keys: keys, administrator: administrator, channelSecret: [UInt8](content.channelSecret))
  }

  /// The endpoint for requests in the folder.
  public static func requests(in directory: URL) -> String {
    "ipc://\(directory.appendingPathComponent("requests.ipc").path)"
  }

  /// The endpoint for broadcasts in the folder.
  public static func broadcasts(in directory: URL) -> String {
    "ipc://\(directory.appendingPathComponent("broadcasts.ipc").path)"
  }
}
