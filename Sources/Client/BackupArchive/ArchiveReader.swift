import Crypto
public import Foundation

/// Reads an encrypted backup.
public enum ArchiveReader {
  /// Decrypts the backup into a folder. The files have mode 0600 and are synced.
  ///
  /// Precondition: the folder exists and has none of the backup's files.
  ///
  /// - Throws: ``ArchiveError`` if the file is no backup, is damaged or incomplete, or has another key.
  public static func extract(_ archive: URL, key: BackupKey, to folder: URL) throws -> ArchiveHeader
  {
    let input = try FileHandle(forReadingFrom: archive)
    defer { try? input.close() }
    func read(_ count: Int) throws -> Data {
      var bytes = Data()
      while bytes.count < count, let part = try input.read(upToCount: count - bytes.count),
        !part.isEmpty
      {
        bytes += part
      }
      guard bytes.count == count else {
        throw ArchiveError(description: "\(archive.path) is incomplete. Use another backup.")
      }
      return bytes
    }
    guard try read(ArchiveForm.magic.count) == ArchiveForm.magic else {
      throw ArchiveError(description: "\(archive.path) is no backup of this version.")
    }
    var recipient: HPKE.Recipient
    do {
      recipient = try HPKE.Recipient(
        privateKey: key.privateKey, ciphersuite: ArchiveForm.suite, info: ArchiveForm.info,
        encapsulatedKey: try read(ArchiveForm.keyBytes))
    } catch { throw damage(archive) }
    func open(isLast: Bool) throws -> Data {
      let length = try read(4).reduce(0) { $0 << 8 | Int($1) }
      guard length <= ArchiveForm.chunkBytes + ArchiveForm.tagBytes else { throw damage(archive) }
      let sealed = try read(length)
      do {
        return try recipient.open(
          sealed, authenticating: isLast ? ArchiveForm.last : ArchiveForm.more)
      } catch { throw damage(archive) }
    }
    let header = try JSONDecoder().decode(ArchiveHeader.self, from: open(isLast: false))
    for file in header.files {
      // A name never leaves the folder.
      guard !file.name.contains("/"), !file.name.hasPrefix("."), file.size >= 0 else {
        throw damage(archive)
      }
      let target = folder.appendingPathComponent(file.name)
      guard
        FileManager.default.createFile(
          atPath: target.path, contents: nil, attributes: [.posixPermissions: 0o600])
      else { throw ArchiveError(description: "Cannot write \(target.path).") }
      let output = try FileHandle(forWritingTo: target)
      defer { try? output.close() }
      var rest = file.size
      while rest > 0 {
        let chunk = try open(isLast: false)
        guard !chunk.isEmpty, chunk.count <= rest else { throw damage(archive) }
        try output.write(contentsOf: chunk)
        rest -= chunk.count
      }
      try output.synchronize()
    }
    guard try open(isLast: true).isEmpty, try input.read(upToCount: 1) ?? Data() == Data() else {
      throw damage(archive)
    }
    return header
  }

  private static func damage(_ archive: URL) -> ArchiveError {
    ArchiveError(
      description:
        "\(archive.path) is damaged, or was made for another key. Use its key, or another backup.")
  }
}
