import Foundation
import Testing

@testable import BackupArchive

@Suite struct ArchiveTests {
  /// A backup of two files, one longer than a chunk, in a folder of its own.
  private struct Example {
    let folder: URL
    let key = BackupKey()
    let files: [(name: String, bytes: Data)] = [
      ("relay.json", Data("{}".utf8)),
      (
        "relay.sqlite",
        Data((0..<(ArchiveForm.chunkBytes + 5)).map { UInt8(truncatingIfNeeded: $0) })
      ),
    ]
    var archive: URL { folder.appendingPathComponent("backup") }

    init() throws {
      folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let sources = try files.map { name, bytes in
        let file = folder.appendingPathComponent(name)
        try bytes.write(to: file)
        return (name: name, file: file)
      }
      try ArchiveWriter.write(
        sources,
        preamble: ArchivePreamble(number: 0, previous: nil, events: 7, checksum: 8, completed: 9),
        program: "1", to: archive, recipient: ArchiveWriter.recipient(key.publicText))
    }

    /// The files of a backup, or its error.
    func extracted(_ bytes: Data? = nil, key: BackupKey? = nil) throws -> [Data] {
      let target = folder.appendingPathComponent(UUID().uuidString)
      try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: target) }
      if let bytes { try bytes.write(to: archive) }
      _ = try ArchiveReader.extract(archive, key: key ?? self.key, to: target)
      return try files.map { try Data(contentsOf: target.appendingPathComponent($0.name)) }
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }
  }

  @Test("a backup gives its files back, to its key only")
  func roundTrip() throws {
    let example = try Example()
    defer { example.remove() }
    #expect(try example.extracted() == example.files.map(\.bytes))
    #expect(throws: ArchiveError.self) { try example.extracted(key: BackupKey()) }
    let bytes = try Data(contentsOf: example.archive)
    #expect(bytes.range(of: example.files[1].bytes.prefix(300)) == nil)
  }

  @Test("a key file gives the same key back, and no other user may read it")
  func keyFile() throws {
    let example = try Example()
    defer { example.remove() }
    let file = example.folder.appendingPathComponent("key.json")
    try example.key.write(to: file)
    #expect(try example.extracted(key: BackupKey(file: file)) == example.files.map(\.bytes))
    #expect(try example.extracted(key: BackupKey(file: file)).count == 2)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
    #expect(throws: (any Error).self) { try BackupKey(file: file) }
  }

  @Test("a backup with any changed byte, or cut anywhere, is refused")
  func damage() throws {
    let example = try Example()
    defer { example.remove() }
    let whole = try Data(contentsOf: example.archive)
    for position in Array(stride(from: 0, to: 300, by: 7)) + [whole.count / 2, whole.count - 1] {
      var bytes = whole
      bytes[position] ^= 1
      #expect(throws: (any Error).self, "byte \(position)") { try example.extracted(bytes) }
      #expect(throws: (any Error).self, "cut at \(position)") {
        try example.extracted(whole.prefix(position))
      }
    }
    #expect(throws: ArchiveError.self) { try example.extracted(whole + [0]) }
    #expect(try example.extracted(whole) == example.files.map(\.bytes))
  }

  @Test("chunks of a backup cannot be dropped or exchanged")
  func chunks() throws {
    let example = try Example()
    defer { example.remove() }
    let whole = [UInt8](try Data(contentsOf: example.archive))
    let magic = ArchiveForm.magic.count
    let preamble = Int(whole[magic]) << 8 | Int(whole[magic + 1])
    let start = magic + 2 + preamble + ArchiveForm.keyBytes
    var chunks: [ArraySlice<UInt8>] = []
    var position = start
    while position < whole.count {
      let length = whole[position..<position + 4].reduce(0) { $0 << 8 | Int($1) } + 4
      chunks.append(whole[position..<position + length])
      position += length
    }
    #expect(chunks.count == 5)
    func archive(_ chunks: [ArraySlice<UInt8>]) -> Data { Data(whole[..<start] + chunks.joined()) }
    #expect(try example.extracted(archive(chunks)).count == 2)
    for dropped in chunks.indices {
      var rest = chunks
      rest.remove(at: dropped)
      #expect(throws: (any Error).self) { try example.extracted(archive(rest)) }
    }
    var exchanged = chunks
    exchanged.swapAt(1, 2)
    #expect(throws: (any Error).self) { try example.extracted(archive(exchanged)) }
  }

  @Test(
    "a text that is not a public key is refused with the next step", arguments: ["", "AAAA", "%"])
  func recipient(_ text: String) {
    #expect(throws: ArchiveError.self) { try ArchiveWriter.recipient(text) }
  }
}
