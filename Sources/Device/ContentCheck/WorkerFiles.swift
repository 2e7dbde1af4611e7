public import Foundation
public import ZeroMQ

/// Where a worker listens, and the key that it proves: what `worker.json` says. It is no secret.
public struct WorkerAddress: Codable, Hashable, Sendable {
  /// The version of this file.
  public var version = 1
  /// The ZeroMQ endpoint.
  public var endpoint: String
  /// The worker's CURVE public key, as 40 characters of Z85.
  public var publicKey: String

  /// A worker with this key at this endpoint.
  public init(endpoint: String, publicKey: CurvePublicKey) {
    self.endpoint = endpoint
    self.publicKey = publicKey.z85
  }

  /// The file in the worker's folder.
  public static func file(in directory: URL) -> URL {
    directory.appendingPathComponent("worker.json")
  }

  /// Reads `worker.json`; throws if there is none yet, or another version.
  public static func read(from directory: URL) throws -> WorkerAddress {
    let file = file(in: directory)
    let data = try Data(contentsOf: file)
    guard let address = try? JSONDecoder().decode(WorkerAddress.self, from: data),
      address.version == 1
    else { throw WorkerFiles.Failure(description: "\(file.path) is not a worker's address.") }
    return address
  }
}

/// The worker's folder: its key pair, which stays the same, its address, and a lock that one worker
/// holds.
public struct WorkerFiles: Sendable {
  /// A folder that cannot be used, and what to do.
  public struct Failure: Error, CustomStringConvertible {
    /// What is wrong, and what to do.
    public let description: String
  }

  private struct KeyFile: Codable {
    var version = 1
    var secretKey: String
  }

  /// What the worker is known by.
  public let keys: CurveKeyPair
  /// Where the worker listens: a unix socket in the folder.
  public let address: WorkerAddress
  private let lock: FolderLock

  /// Makes the folder (0700), `worker.key` (0600) and `worker.json` unless they are there, and
  /// takes the lock, which lasts as long as the value.
  ///
  /// - Throws: `Failure` if others may enter the folder or read the key, or another worker runs
  ///   there.
  public init(in directory: URL) throws {
    try FileManager.default.createDirectory(
      at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try Self.check(directory, "lets others in: chmod 700")
    let socket = directory.appendingPathComponent("worker.ipc").path
    guard socket.utf8.count <= ContentLimits.pathBytes else {
      throw Failure(description: "\(socket) is too long for a unix socket: use a shorter folder.")
    }
    lock = try FolderLock.take(directory)
    keys = try Self.keys(directory.appendingPathComponent("worker.key"))
    address = WorkerAddress(endpoint: "ipc://\(socket)", publicKey: keys.publicKey)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    try Self.write(try encoder.encode(address), to: WorkerAddress.file(in: directory))
  }

  private static func keys(_ file: URL) throws -> CurveKeyPair {
    guard FileManager.default.fileExists(atPath: file.path) else {
      let keys = try CurveKeyPair.generate()
      try write(try JSONEncoder().encode(KeyFile(secretKey: keys.secretZ85)), to: file)
      return keys
    }
    try check(file, "holds a secret and others may read it: chmod 600")
    guard
      let content = try? JSONDecoder().decode(KeyFile.self, from: try Data(contentsOf: file)),
      content.version == 1, let keys = CurveKeyPair(secretZ85: content.secretKey)
    else { throw Failure(description: "\(file.path) is not a worker's key file.") }
    return keys
  }

  private static func check(_ url: URL, _ advice: String) throws {
    var status = stat()
    guard stat(url.path, &status) == 0 else { throw failure("read", url.path) }
    guard status.st_mode & 0o077 == 0 else {
      throw Failure(description: "\(url.path) \(advice) \(url.path)")
    }
  }

  /// Writes with mode 0600; the file is never there in part.
  private static func write(_ data: Data, to file: URL) throws {
    let temporary = file.appendingPathExtension("new")
    // Left by a worker that was killed here, perhaps with another mode.
    unlink(temporary.path)
    let descriptor = open(temporary.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure("write", file.path) }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    try handle.write(contentsOf: data)
    try handle.synchronize()
    try handle.close()
    guard rename(temporary.path, file.path) == 0 else { throw failure("write", file.path) }
  }

  fileprivate static func failure(_ verb: String, _ path: String) -> Failure {
    Failure(description: "Cannot \(verb) \(path): \(String(cString: strerror(errno))).")
  }
}

/// libzmq takes an address over from whoever is bound to it: a second worker must not come so far.
private final class FolderLock: Sendable {
  private let descriptor: Int32

  static func take(_ directory: URL) throws -> FolderLock {
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
    // A process that was just forked may have the descriptor too, until it begins its program.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}
