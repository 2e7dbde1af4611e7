public import Foundation

/// Files with secrets: written atomically, owned by this user, and readable by no other user.
public enum PrivateFile {
  /// A missing, invalid or unsafe file or folder.
  public struct Failure: Error, CustomStringConvertible {
    /// The error and its remedy, for people.
    public let description: String

    package init(description: String) { self.description = description }
  }

  /// The encoder of all files with secrets: indented and sorted, because people read and compare
  /// them.
  package static var encoder: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return encoder
  }

  /// Makes every new file, socket and log of this process and its children readable by their owner
  /// only.
  public static func restrictNewFilesToOwner() { umask(0o077) }

  /// Creates the folder with mode 0700. An existing folder must be as safe.
  ///
  /// - Throws: `Failure` with the reason, also for a folder that belongs to another user or lets
  ///   other users in.
  public static func createFolder(_ folder: URL) throws {
    var parents: [URL] = []
    var entry = folder.standardizedFileURL
    while entry.path != "/", access(entry.path, F_OK) != 0 {
      entry.deleteLastPathComponent()
      parents.append(entry)
    }
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
    var status = stat()
    guard stat(folder.path, &status) == 0 else { throw failure("read", folder) }
    guard isOwn(status) else {
      throw Failure(
        description: "The folder '\(folder.path)' belongs to another user. Choose another folder.")
    }
    guard isClosed(status) else {
      throw Failure(
        description:
          "The folder '\(folder.path)' lets other users in. Run: chmod 700 \(folder.path)"
      )
    }
    for parent in parents {
      // A folder that this user may write but not read cannot be synced.
      try? sync(folder: parent)
    }
  }

  /// Makes the entries of a folder durable.
  package static func sync(folder: URL) throws {
    let descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure("read", folder) }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    try handle.synchronize()
    try handle.close()
  }

  /// Writes the file atomically with mode 0600. Never follows a link, and never writes into a file
  /// that another process has prepared.
  ///
  /// - Parameter isDurable: Whether to sync the file and its folder, so that a power cut does not lose
  ///   them. A sync takes milliseconds. A report that the program writes again needs none.
  public static func write(_ data: Data, to file: URL, isDurable: Bool = true) throws {
    let name = String(UInt64.random(in: .min ... .max), radix: 36)
    let temporary = file.appendingPathExtension("new-\(name)")
    let descriptor = open(
      temporary.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure("write", file) }
    do {
      let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      try handle.write(contentsOf: data)
      // A power cut must not lose keys that the relay has already accepted.
      if isDurable { try handle.synchronize() }
      try handle.close()
      guard rename(temporary.path, file.path) == 0 else { throw failure("write", file) }
      if isDurable { try sync(folder: file.deletingLastPathComponent()) }
    } catch {
      unlink(temporary.path)
      throw error
    }
  }

  /// Reads the file.
  ///
  /// - Throws: `Failure` if the file is missing, belongs to another user, or has a mode that lets
  ///   others read it.
  public static func read(_ file: URL) throws -> Data {
    let descriptor = open(file.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw failure("read", file) }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw failure("read", file) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw Failure(description: "Cannot read \(file.path): not a file.")
    }
    guard isOwn(status) else {
      throw Failure(
        description: "\(file.path) belongs to another user. Run the program as the file's owner.")
    }
    guard isClosed(status) else {
      throw Failure(
        description: "\(file.path) holds a secret that others can read. Run: chmod 600 \(file.path)"
      )
    }
    return try handle.readToEnd() ?? Data()
  }

  private static func isOwn(_ status: stat) -> Bool { status.st_uid == geteuid() }
  private static func isClosed(_ status: stat) -> Bool { status.st_mode & 0o077 == 0 }

  private static func failure(_ verb: String, _ file: URL) -> Failure {
    Failure(description: "Cannot \(verb) \(file.path): \(String(cString: strerror(errno))).")
  }
}
