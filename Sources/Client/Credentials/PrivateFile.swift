public import Foundation

/// Files with secrets: written atomically, readable by their owner only.
public enum PrivateFile {
  /// A missing, invalid or unsafe file.
  public struct Failure: Error, CustomStringConvertible {
    /// The error and its remedy, for people.
    public let description: String

    package init(description: String) { self.description = description }
  }

  /// The encoder of all files with secrets: indented and sorted, because people read and compare
  /// them.
  static var encoder: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return encoder
  }

  /// Makes every new file, socket and log of this process and its children readable by their owner
  /// only.
  public static func restrictNewFilesToOwner() { umask(0o077) }

  /// Creates the folder with mode 0700, unless it exists.
  ///
  /// - Throws: `Failure` with the reason.
  public static func createFolder(_ folder: URL) throws {
    do {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      let reason =
        ((error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError)
        .map { ": \(String(cString: strerror(Int32($0.code))))" } ?? ""
      throw Failure(
        description: "Cannot create the folder '\(folder.path)'\(reason). Choose another folder.")
    }
  }

  /// Writes the file atomically with mode 0600.
  public static func write(_ data: Data, to file: URL) throws {
    let temporary = file.appendingPathExtension("new-\(getpid())")
    let descriptor = open(temporary.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw Failure(description: "Cannot write \(file.path): \(String(cString: strerror(errno))).")
    }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    try handle.write(contentsOf: data)
    // A power cut must not lose keys that the relay has already accepted.
    try handle.synchronize()
    try handle.close()
    guard rename(temporary.path, file.path) == 0 else {
      throw Failure(description: "Cannot write \(file.path): \(String(cString: strerror(errno))).")
    }
  }

  /// Reads the file.
  ///
  /// - Throws: `Failure` if the file is missing, or its mode lets others read it.
  public static func read(_ file: URL) throws -> Data {
    var status = stat()
    guard stat(file.path, &status) == 0 else {
      throw Failure(description: "Cannot read \(file.path): \(String(cString: strerror(errno))).")
    }
    guard status.st_mode & 0o077 == 0 else {
      throw Failure(
        description: "\(file.path) holds a secret that others can read. Run: chmod 600 \(file.path)"
      )
    }
    return try Data(contentsOf: file)
  }
}
