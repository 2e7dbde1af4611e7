public import Crypto
public import Foundation

/// Writes an encrypted backup.
public enum ArchiveWriter {
  /// Writes a backup of the files to a new file with mode 0600, and syncs it.
  ///
  /// - Parameters:
  ///   - sources: The files with their names in the relay's folder.
  ///   - completed: See ``ArchiveHeader/completed``.
  ///   - program: See ``ArchiveHeader/program``.
  ///   - recipient: See ``recipient(_:)``.
  /// - Throws: ``ArchiveError``, or an error of the file system.
  public static func write(
    _ sources: [(name: String, file: URL)], completed: Double, program: String,
    to target: URL, recipient: Curve25519.KeyAgreement.PublicKey
  ) throws {
    var sender = try HPKE.Sender(
      recipientKey: recipient, ciphersuite: ArchiveForm.suite, info: ArchiveForm.info)
    let header = ArchiveHeader(
      completed: completed, program: program,
      files: try sources.map { .init(name: $0.name, size: try size($0.file)) })
    let partial = target.appendingPathExtension("partial")
    guard
      FileManager.default.createFile(
        atPath: partial.path, contents: nil, attributes: [.posixPermissions: 0o600])
    else { throw ArchiveError(description: "Cannot write \(partial.path).") }
    let output = try FileHandle(forWritingTo: partial)
    defer { try? output.close() }
    try output.write(contentsOf: ArchiveForm.magic + sender.encapsulatedKey)
    func seal(_ chunk: Data, isLast: Bool) throws {
      let sealed = try sender.seal(
        chunk, authenticating: isLast ? ArchiveForm.last : ArchiveForm.more)
      var length = UInt32(sealed.count).bigEndian
      try output.write(contentsOf: Data(bytes: &length, count: 4) + sealed)
    }
    try seal(try JSONEncoder().encode(header), isLast: false)
    for (source, file) in zip(sources, header.files) {
      let input = try FileHandle(forReadingFrom: source.file)
      defer { try? input.close() }
      var rest = file.size
      while rest > 0 {
        let chunk = try input.read(upToCount: min(rest, ArchiveForm.chunkBytes)) ?? Data()
        guard !chunk.isEmpty else {
          throw ArchiveError(description: "\(source.file.path) became shorter. Repeat the backup.")
        }
        rest -= chunk.count
        try seal(chunk, isLast: false)
      }
    }
    try seal(Data(), isLast: true)
    try output.synchronize()
    guard rename(partial.path, target.path) == 0 else {
      throw ArchiveError(description: "Cannot rename \(partial.path) to \(target.path).")
    }
  }

  /// The public key of the backups.
  ///
  /// - Parameter text: See ``BackupKey/publicText``.
  /// - Throws: ``ArchiveError`` if the text is no key.
  public static func recipient(_ text: String) throws -> Curve25519.KeyAgreement.PublicKey {
    guard let bytes = Data(base64Encoded: text),
      let key = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: bytes)
    else {
      throw ArchiveError(
        description:
          "'\(text)' is not a key of backups. Create one: relayctl backup-key --file FILE")
    }
    return key
  }

  private static func size(_ file: URL) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
    return attributes[.size] as? Int ?? 0
  }
}
