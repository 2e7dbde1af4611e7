import Foundation
import Testing

@testable import BackupArchive

@Suite struct SeriesTests {
  /// A backup with three segments, in a folder of its own.
  private struct Example {
    static let secret = SegmentSecret([UInt8](repeating: 7, count: 32))
    let folder: URL
    let key: BackupKey

    init(key: BackupKey = BackupKey(), secret: SegmentSecret = Self.secret, segments: Int = 3)
      throws
    {
      self.key = key
      folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let store = folder.appendingPathComponent("relay.sqlite")
      try Data("store \(UUID())".utf8).write(to: store)
      try ArchiveWriter.write(
        [("relay.sqlite", store)],
        preamble: ArchivePreamble(number: 0, previous: nil, events: 5, checksum: 1, completed: 1),
        program: "1", to: file(0), recipient: ArchiveWriter.recipient(key.publicText))
      for number in 1...segments { try append(number, secret: secret) }
    }

    func file(_ number: Int) -> URL { folder.appendingPathComponent(ArchiveSeries.name(number)) }

    func append(_ number: Int, secret: SegmentSecret = Self.secret) throws {
      let preamble = try #require(
        try ArchiveSeries(folder).next(events: 5 + number, checksum: 2, completed: 3))
      #expect(preamble.number == number)
      try ArchiveWriter.write(
        segment: Data("content \(number)".utf8), preamble: preamble, program: "1", to: file(number),
        recipient: ArchiveWriter.recipient(key.publicText), secret: secret)
    }

    /// The contents of all segments, or the error of the first file that is refused.
    func read(_ secret: SegmentSecret = Self.secret) throws -> [String] {
      let series = try ArchiveSeries(folder)
      _ = try series.checkLink(0)
      let contents = try series.files.indices.dropFirst().map { number in
        _ = try series.checkLink(number)
        let content = try ArchiveReader.content(
          ofSegment: series.files[number], key: key, secret: secret)
        return String(decoding: content, as: UTF8.self)
      }
      try series.checkGap()
      return contents
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }
  }

  @Test("O6: a series is read in order, and its end is that of the last segment")
  func whole() throws {
    let example = try Example()
    defer { example.remove() }
    #expect(try example.read() == ["content 1", "content 2", "content 3"])
    #expect(try ArchiveSeries(example.folder).end()?.events == 8)
    let mode = try FileManager.default.attributesOfItem(atPath: example.file(1).path)
    #expect(mode[.posixPermissions] as? Int == 0o600)
  }

  @Test("O6: a series with a missing file is refused, wherever it is", arguments: 0...2)
  func missing(number: Int) throws {
    let example = try Example()
    defer { example.remove() }
    try FileManager.default.removeItem(at: example.file(number))
    #expect(throws: (any Error).self) {
      let series = try ArchiveSeries(example.folder)
      #expect(series.gap == number && series.files.count == number)
      try series.checkGap()
    }
    #expect(throws: ArchiveError.self) { try ArchiveSeries(example.folder).end() }
  }

  @Test("O6: exchanged, truncated and changed segments are refused")
  func damage() throws {
    let example = try Example()
    defer { example.remove() }
    let files = try (1...3).map { try Data(contentsOf: example.file($0)) }
    func refused(_ change: (Int) throws -> Void) throws {
      for number in 1...3 {
        try change(number)
        #expect(throws: (any Error).self, "segment \(number)") { try example.read() }
        for (index, bytes) in files.enumerated() { try bytes.write(to: example.file(index + 1)) }
      }
    }
    try refused { try files[$0 % 3].write(to: example.file($0)) }
    try refused { try files[$0 - 1].dropLast().write(to: example.file($0)) }
    try refused { number in
      var bytes = files[number - 1]
      bytes[bytes.count - 1] ^= 1
      try bytes.write(to: example.file(number))
    }
    // A preamble is readable without a key, and sealed all the same.
    try refused { number in
      var bytes = files[number - 1]
      let place = try #require(bytes.range(of: Data("\"events\":\(5 + number)".utf8)))
      bytes[place.upperBound - 1] += 1
      try bytes.write(to: example.file(number))
    }
    #expect(try example.read().count == 3)
  }

  @Test("O6: segments of another series, relay or backup are refused")
  func foreign() throws {
    let example = try Example()
    let other = try Example(key: example.key)
    defer {
      example.remove()
      other.remove()
    }
    for number in 0...3 {
      let own = try Data(contentsOf: example.file(number))
      try Data(contentsOf: other.file(number)).write(to: example.file(number))
      #expect(throws: (any Error).self, "file \(number)") { try example.read() }
      try own.write(to: example.file(number))
    }
    #expect(throws: ArchiveError.self) { try example.read(SegmentSecret([1])) }
    // The public key alone makes no segment.
    try FileManager.default.removeItem(at: example.file(3))
    try example.append(3, secret: SegmentSecret([2]))
    #expect(throws: ArchiveError.self) { try example.read() }
  }

  @Test("O6: files that are no part of a series are ignored")
  func others() throws {
    let example = try Example()
    defer { example.remove() }
    for name in ["4.segment", "00000004.segment.partial", "00000005.backup", "x"] {
      try Data().write(to: example.folder.appendingPathComponent(name))
    }
    #expect(try ArchiveSeries(example.folder).files.count == 4)
    #expect(try ArchiveSeries(example.folder).gap == nil)
    #expect(ArchiveSeries.name(123_456_789) == "123456789.segment")
  }
}
