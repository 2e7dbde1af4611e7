import Crypto
public import Foundation

/// Reads encrypted backups and segments.
public enum ArchiveReader {
  /// The place of the archive in its series. The preamble is verified only when the archive is read.
  ///
  /// - Throws: ``ArchiveError`` if the file is no archive.
  public static func preamble(of archive: URL) throws -> ArchivePreamble {
    try Input(archive).preamble
  }

  /// Decrypts the backup into a folder. The files have mode 0600 and are synced.
  ///
  /// Precondition: the folder exists and has none of the backup's files.
  ///
  /// - Throws: ``ArchiveError`` if the file is no backup, is damaged or incomplete, or has another key.
  public static func extract(_ archive: URL, key: BackupKey, to folder: URL) throws
    -> ArchivePreamble
  {
    var input = try Input(archive, key: key, secret: nil)
    let header = try input.header()
    for file in header.files {
      // A name never leaves the folder.
      guard !file.name.contains("/"), !file.name.hasPrefix("."), file.size >= 0 else {
        throw ArchiveError.damage(archive)
      }
      let target = folder.appendingPathComponent(file.name)
      guard
        FileManager.default.createFile(
          atPath: target.path, contents: nil, attributes: [.posixPermissions: 0o600])
      else { throw ArchiveError(description: "Cannot write \(target.path).") }
      let output = try FileHandle(forWritingTo: target)
      defer { try? output.close() }
      try input.contents(of: file) { try output.write(contentsOf: $0) }
      try output.synchronize()
    }
    try input.finish()
    return input.preamble
  }

  /// The content of a segment.
  ///
  /// - Throws: ``ArchiveError`` if the file is no segment of a relay with this secret, or as
  ///   ``extract(_:key:to:)``.
  public static func content(
    ofSegment archive: URL, key: BackupKey, secret: SegmentSecret
  ) throws -> Data {
    var input = try Input(archive, key: key, secret: secret)
    guard let file = try input.header().files.first else { throw ArchiveError.damage(archive) }
    var content = Data()
    try input.contents(of: file) { content += $0 }
    try input.finish()
    return content
  }

  /// An archive that is being read.
  private struct Input {
    let preamble: ArchivePreamble
    private let archive: URL
    private let input: FileHandle
    private let preambleBytes: Data
    private var recipient: HPKE.Recipient?

    /// Reads the preamble.
    init(_ archive: URL) throws {
      self.archive = archive
      input = try FileHandle(forReadingFrom: archive)
      guard try Self.read(ArchiveForm.magic.count, input, archive) == ArchiveForm.magic else {
        throw ArchiveError(description: "\(archive.path) is no backup of this version.")
      }
      let length = try Self.read(2, input, archive).reduce(0) { $0 << 8 | Int($1) }
      guard length <= ArchiveForm.preambleBytes,
        case let bytes = try Self.read(length, input, archive),
        let preamble = try? JSONDecoder().decode(ArchivePreamble.self, from: bytes)
      else { throw ArchiveError.damage(archive) }
      (self.preamble, preambleBytes) = (preamble, bytes)
    }

    init(_ archive: URL, key: BackupKey, secret: SegmentSecret?) throws {
      try self.init(archive)
      let encapsulated = try Self.read(ArchiveForm.keyBytes, input, archive)
      let (suite, info) = (ArchiveForm.suite, ArchiveForm.info(preamble: preambleBytes))
      do {
        recipient =
          if let secret {
            try HPKE.Recipient(
              privateKey: key.privateKey, ciphersuite: suite, info: info,
              encapsulatedKey: encapsulated, presharedKey: secret.key,
              presharedKeyIdentifier: SegmentSecret.identifier)
          } else {
            try HPKE.Recipient(
              privateKey: key.privateKey, ciphersuite: suite, info: info,
              encapsulatedKey: encapsulated)
          }
      } catch { throw ArchiveError.damage(archive) }
    }

    mutating func header() throws -> ArchiveHeader {
      try JSONDecoder().decode(ArchiveHeader.self, from: open(isLast: false))
    }

    /// Reads the next file.
    mutating func contents(of file: ArchiveHeader.File, _ body: (Data) throws -> Void) throws {
      var rest = file.size
      while rest > 0 {
        let chunk = try open(isLast: false)
        guard !chunk.isEmpty, chunk.count <= rest else { throw ArchiveError.damage(archive) }
        try body(chunk)
        rest -= chunk.count
      }
    }

    /// Verifies that the archive ends here.
    mutating func finish() throws {
      guard try open(isLast: true).isEmpty, try input.read(upToCount: 1) ?? Data() == Data() else {
        throw ArchiveError.damage(archive)
      }
      try input.close()
    }

    private mutating func open(isLast: Bool) throws -> Data {
      let length = try Self.read(4, input, archive).reduce(0) { $0 << 8 | Int($1) }
      guard length <= ArchiveForm.chunkBytes + ArchiveForm.tagBytes else {
        throw ArchiveError.damage(archive)
      }
      let sealed = try Self.read(length, input, archive)
      let data = isLast ? ArchiveForm.last : ArchiveForm.more
      guard let chunk = try? recipient?.open(sealed, authenticating: data) else {
        throw ArchiveError.damage(archive)
      }
      return chunk
    }

    private static func read(_ count: Int, _ input: FileHandle, _ archive: URL) throws -> Data {
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
  }
}
