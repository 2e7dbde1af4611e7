public import Crypto
public import Foundation
import PrivateFiles

/// Writes encrypted backups and segments.
public enum ArchiveWriter {
  /// Writes a backup of the files to a new file with mode 0600, and syncs it with its folder.
  ///
  /// - Parameters:
  ///   - sources: The files with their names in the relay's folder.
  ///   - program: See ``ArchiveHeader/program``.
  ///   - recipient: See ``recipient(_:)``.
  /// - Throws: ``ArchiveError``, or an error of the file system.
  public static func write(
    _ sources: [(name: String, file: URL)], preamble: ArchivePreamble, program: String,
    to target: URL,
    recipient: Curve25519.KeyAgreement.PublicKey
  ) throws {
    let header = ArchiveHeader(
      program: program, files: try sources.map { .init(name: $0.name, size: try size($0.file)) })
    var output = try Output(target, preamble, recipient, nil)
    try output.seal(try JSONEncoder().encode(header))
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
        try output.seal(chunk)
      }
    }
    try output.finish()
  }

  /// Writes a segment with this content, as ``write(_:preamble:program:to:recipient:)`` does.
  ///
  /// - Parameter secret: The secret of the series' relay.
  public static func write(
    segment content: Data, preamble: ArchivePreamble, program: String, to target: URL,
    recipient: Curve25519.KeyAgreement.PublicKey, secret: SegmentSecret
  ) throws {
    let header = ArchiveHeader(
      program: program, files: [.init(name: target.lastPathComponent, size: content.count)])
    var output = try Output(target, preamble, recipient, secret)
    try output.seal(try JSONEncoder().encode(header))
    for start in stride(from: 0, to: content.count, by: ArchiveForm.chunkBytes) {
      try output.seal(content.dropFirst(start).prefix(ArchiveForm.chunkBytes))
    }
    try output.finish()
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

  /// An archive that is being written. The file appears when it is whole.
  private struct Output {
    let target: URL
    let partial: URL
    private let output: FileHandle
    private var sender: HPKE.Sender

    init(
      _ target: URL, _ preamble: ArchivePreamble, _ recipient: Curve25519.KeyAgreement.PublicKey,
      _ secret: SegmentSecret?
    ) throws {
      self.target = target
      partial = target.appendingPathExtension("partial")
      let preamble = try JSONEncoder().encode(preamble)
      let (suite, info) = (ArchiveForm.suite, ArchiveForm.info(preamble: preamble))
      sender =
        if let secret {
          try HPKE.Sender(
            recipientKey: recipient, ciphersuite: suite, info: info, presharedKey: secret.key,
            presharedKeyIdentifier: SegmentSecret.identifier)
        } else {
          try HPKE.Sender(recipientKey: recipient, ciphersuite: suite, info: info)
        }
      guard
        FileManager.default.createFile(
          atPath: partial.path, contents: nil, attributes: [.posixPermissions: 0o600])
      else { throw ArchiveError(description: "Cannot write \(partial.path).") }
      output = try FileHandle(forWritingTo: partial)
      var length = UInt16(preamble.count).bigEndian
      try output.write(
        contentsOf: ArchiveForm.magic + Data(bytes: &length, count: 2) + preamble
          + sender.encapsulatedKey)
    }

    mutating func seal(_ chunk: Data, isLast: Bool = false) throws {
      let sealed = try sender.seal(
        chunk, authenticating: isLast ? ArchiveForm.last : ArchiveForm.more)
      var length = UInt32(sealed.count).bigEndian
      try output.write(contentsOf: Data(bytes: &length, count: 4) + sealed)
    }

    mutating func finish() throws {
      try seal(Data(), isLast: true)
      try output.synchronize()
      try output.close()
      guard rename(partial.path, target.path) == 0 else {
        throw ArchiveError(description: "Cannot rename \(partial.path) to \(target.path).")
      }
      try PrivateFile.sync(folder: target.deletingLastPathComponent())
    }
  }
}
