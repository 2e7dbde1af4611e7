import Crypto
public import Foundation

/// A folder with a backup and the segments that continue it.
///
/// The files are a chain: the preamble of each names the digest of the file before. So a reader notices a file
/// that is missing, exchanged, changed, or of another series. A series that lost its last files is a
/// shorter series; its end says until when.
public struct ArchiveSeries: Sendable {
  /// The files from number 0 on, up to the first gap.
  public let files: [URL]
  /// The number of a missing file that later files follow; `nil` without a gap.
  public let gap: Int?

  /// Lists the files of the folder.
  public init(_ folder: URL) throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    let numbers = Set(names.compactMap(Self.number))
    let count = (0...).prefix { numbers.contains($0) }.count
    files = (0..<count).map { folder.appendingPathComponent(Self.name($0)) }
    gap = count < numbers.count ? count : nil
  }

  /// The name of the file with this number.
  public static func name(_ number: Int) -> String {
    let digits = String(number)
    let zeros = String(repeating: "0", count: max(0, digitCount - digits.count))
    return zeros + digits + (number == 0 ? ".backup" : ".segment")
  }

  private static let digitCount = 8

  private static func number(_ name: String) -> Int? {
    Int(name.prefix { $0 != "." }).flatMap { Self.name($0) == name ? $0 : nil }
  }

  /// The preamble of the next file, which continues the last one with events up to a position.
  ///
  /// - Returns: `nil` for a folder without files.
  /// - Throws: ``ArchiveError`` if a file is missing, or the last one is no archive.
  public func next(events: Int, checksum: UInt32, completed: Double) throws -> ArchivePreamble? {
    try checkGap()
    guard let last = files.last else { return nil }
    return ArchivePreamble(
      number: files.count, previous: try Self.digest(of: last), events: events,
      checksum: checksum, completed: completed)
  }

  /// The preamble of the last file.
  ///
  /// - Throws: As ``next(events:checksum:completed:)``.
  public func end() throws -> ArchivePreamble? {
    try checkGap()
    return try files.last.map(ArchiveReader.preamble)
  }

  /// Verifies that a file follows the one before it.
  ///
  /// - Throws: ``ArchiveError`` if the file is missing, or belongs elsewhere.
  public func checkLink(_ number: Int) throws -> ArchivePreamble {
    let preamble = try ArchiveReader.preamble(of: files[number])
    guard preamble.number == number else { throw foreign(number) }
    guard number > 0 else { return preamble }
    guard preamble.previous == (try Self.digest(of: files[number - 1])),
      preamble.events > (try ArchiveReader.preamble(of: files[number - 1])).events
    else { throw foreign(number) }
    return preamble
  }

  /// Verifies that no file is missing between others.
  public func checkGap() throws {
    guard let gap else { return }
    throw ArchiveError(
      description: "\(Self.name(gap)) is missing. Put it back, or restore the moment before it.")
  }

  private func foreign(_ number: Int) -> ArchiveError {
    ArchiveError(
      description:
        "\(files[number].path) does not follow the file before it: one of both was changed, or "
        + "belongs to another series. Put the right file back, or restore the moment before it.")
  }

  private static func digest(of file: URL) throws -> Data {
    let input = try FileHandle(forReadingFrom: file)
    defer { try? input.close() }
    var hash = SHA256()
    while let part = try input.read(upToCount: ArchiveForm.chunkBytes), !part.isEmpty {
      hash.update(data: part)
    }
    return Data(hash.finalize())
  }
}
