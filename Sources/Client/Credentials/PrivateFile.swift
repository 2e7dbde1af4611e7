public import Foundation

/// Files with secrets: written whole, readable by their owner alone.
public enum PrivateFile {
  /// A file that cannot be used, and what to do.
  public struct Failure: Error, CustomStringConvertible {
    /// What is wrong, and what to do.
    public let description: String

    package init(description: String) { self.description = description }
  }

  /// The form of all files with secrets: people read and compare them.
  static var encoder: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return encoder
  }

  /// Whatever this process and its children make from now on is for their owner alone, sockets and logs too.
  public static func keepToOwner() { umask(0o077) }

  /// Writes the bytes with mode 0600; the file is never there in part.
  public static func write(_ data: Data, to file: URL) throws {
    let temporary = file.appendingPathExtension("new-\(getpid())")
    let descriptor = open(temporary.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw Failure(description: "Cannot write \(file.path): \(String(cString: strerror(errno))).")
    }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    try handle.write(contentsOf: data)
    // Keys that a relay has accepted must not be lost with the machine's power.
    try handle.synchronize()
    try handle.close()
    guard rename(temporary.path, file.path) == 0 else {
      throw Failure(description: "Cannot write \(file.path): \(String(cString: strerror(errno))).")
    }
  }

  /// Reads the file, unless others could read it too.
  public static func read(_ file: URL) throws -> Data {
    var status = stat()
    guard stat(file.path, &status) == 0 else {
      throw Failure(description: "Cannot read \(file.path): \(String(cString: strerror(errno))).")
    }
    guard status.st_mode & 0o077 == 0 else {
      throw Failure(
        description: "\(file.path) holds a secret and others may read it: chmod 600 \(file.path)")
    }
    return try Data(contentsOf: file)
  }
}
