public import Foundation
public import PrivateFiles
public import ZeroMQ

/// The content of `worker.json`: the worker's endpoint and public key. Not secret.
public struct WorkerAddress: Codable, Hashable, Sendable {
  /// The version of the file's format.
  public var version = 1
  /// The worker's ZeroMQ endpoint.
  public var endpoint: String
  /// The worker's CURVE public key, 40 characters of Z85.
  public var publicKey: String

  /// Creates the address of a worker.
  public init(endpoint: String, publicKey: CurvePublicKey) {
    self.endpoint = endpoint
    self.publicKey = publicKey.z85
  }

  /// The path of `worker.json` in the worker's folder.
  public static func file(in directory: URL) -> URL {
    directory.appendingPathComponent("worker.json")
  }

  /// Reads `worker.json`.
  ///
  /// - Throws: An error of the file system, or `WorkerFiles.Failure` for another version or format.
  public static func read(from directory: URL) throws -> WorkerAddress {
    let file = file(in: directory)
    let data = try Data(contentsOf: file)
    guard let address = try? JSONDecoder().decode(WorkerAddress.self, from: data),
      address.version == 1
    else { throw WorkerFiles.Failure(description: "\(file.path) is not a worker's address.") }
    return address
  }
}

/// The worker's folder: a permanent key pair, the address, and the lock of the running worker.
public struct WorkerFiles: Sendable {
  /// A folder or file that the worker rejects.
  public typealias Failure = PrivateFile.Failure

  private struct KeyFile: Codable {
    var version = 1
    var secretKey: String
  }

  /// The key pair that the worker proves in the CURVE handshake.
  public let keys: CurveKeyPair
  /// The worker's address: a unix socket in the folder.
  public let address: WorkerAddress
  private let lock: FolderLock

  /// Creates the folder (0700), `worker.key` (0600) and `worker.json` if they are missing, and
  /// locks the folder until the value is released.
  ///
  /// - Throws: `Failure` if other users may enter the folder or read the key, if the path is too
  ///   long, or if another worker runs there.
  public init(in directory: URL) throws {
    try PrivateFile.createFolder(directory)
    let socket = directory.appendingPathComponent("worker.ipc").path
    guard socket.utf8.count <= ContentLimits.pathBytes else {
      throw Failure(description: "\(socket) is too long for a unix socket: use a shorter folder.")
    }
    lock = try FolderLock.acquire(directory)
    keys = try Self.keys(directory.appendingPathComponent("worker.key"))
    address = WorkerAddress(endpoint: "ipc://\(socket)", publicKey: keys.publicKey)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    try PrivateFile.write(try encoder.encode(address), to: WorkerAddress.file(in: directory))
  }

  private static func keys(_ file: URL) throws -> CurveKeyPair {
    guard FileManager.default.fileExists(atPath: file.path) else {
      let keys = try CurveKeyPair.generate()
      try PrivateFile.write(try JSONEncoder().encode(KeyFile(secretKey: keys.secretZ85)), to: file)
      return keys
    }
    let data = try PrivateFile.read(file)
    guard let content = try? JSONDecoder().decode(KeyFile.self, from: data),
      content.version == 1, let keys = CurveKeyPair(secretZ85: content.secretKey)
    else { throw Failure(description: "\(file.path) is not a worker's key file.") }
    return keys
  }

  fileprivate static func failure(_ verb: String, _ path: String) -> Failure {
    Failure(description: "Cannot \(verb) \(path): \(String(cString: strerror(errno))).")
  }
}

/// The exclusive lock of a folder. Without the lock a second worker would take over the first one's
/// address, because libzmq rebinds a unix socket in use.
private final class FolderLock: Sendable {
  private let descriptor: Int32

  static func acquire(_ directory: URL) throws -> FolderLock {
    let path = directory.appendingPathComponent("worker.lock").path
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw WorkerFiles.failure("write", path) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      throw WorkerFiles.Failure(description: "Another worker runs in \(directory.path).")
    }
    return FolderLock(descriptor)
  }

  private init(_ descriptor: Int32) {
    self.descriptor = descriptor
  }

  deinit {
    // Unlocked explicitly, because a forked child shares the descriptor until its exec.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}
