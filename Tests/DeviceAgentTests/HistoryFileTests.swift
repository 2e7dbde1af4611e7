import FamilyCore
import FamilyModel
import Foundation
import Synchronization
import Testing

@testable import DeviceAgent

/// The file to which a host moves the settled history of its devices.
@Suite struct HistoryFileTests {
  private static func file(
    _ folder: URL, capacity: Int = HistoryFile.capacity, reserve: Int = 0,
    warn: @escaping @Sendable (String) -> Void = { _ in }
  ) -> HistoryFile {
    HistoryFile(in: folder, capacity: capacity, reserve: reserve, warn: warn) { message in
      FileHandle.standardError.write(Data(message.utf8))
      exit(70)
    }
  }

  private static func folder() throws -> URL {
    let folder = URL(fileURLWithPath: "/tmp/pr-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  private static func store(_ bytes: [UInt8], in file: HistoryFile) -> (any StoredBlock)? {
    bytes.withUnsafeBytes(file.store)
  }

  private static func block(_ number: Int) -> [UInt8] {
    Array("the friend number \(number) ".utf8)
      + [UInt8](repeating: UInt8(number % 251), count: 9_000)
  }

  /// The unnamed file, which the process has open.
  private static func openFile(in folder: URL) -> URL? {
    let files = URL(fileURLWithPath: "/proc/self/fd")
    return (try? FileManager.default.contentsOfDirectory(atPath: files.path))?.map {
      files.appendingPathComponent($0)
    }.first {
      (try? FileManager.default.destinationOfSymbolicLink(atPath: $0.path))?
        .hasPrefix("\(folder.path)/.history-") ?? false
    }
  }

  @Test("O11: a history file gives each block back, also after others were freed")
  func blocks() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = Self.file(folder)
    var blocks: [Int: any StoredBlock] = [:]
    for number in 0..<3 * HistoryFile.cachedBlocks.lowerBound {
      blocks[number] = Self.store(Self.block(number), in: file)
      if number % 3 == 2 { blocks[number - 1] = nil }
    }
    #expect(blocks.count == 2 * HistoryFile.cachedBlocks.lowerBound)
    for _ in 0..<2 {
      #expect(blocks.allSatisfy { $0.value.read() == Self.block($0.key) })
    }
  }

  @Test("O11: a history file has no name and reveals nothing")
  func sealed() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = Self.file(folder)
    let block = try #require(Self.store(Self.block(1), in: file))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    let bytes = try Data(contentsOf: #require(Self.openFile(in: folder)))
    #expect(bytes.count > 9_000 && bytes.range(of: Data("friend".utf8)) == nil)
    #expect(block.read() == Self.block(1))
  }

  @Test("O11: a full history file refuses blocks, and freed blocks make room")
  func full() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = Self.file(folder, capacity: 30_000)
    var blocks = (1...3).map { Self.store(Self.block($0), in: file) }
    #expect(blocks.map { $0 != nil } == [true, true, false])
    blocks[0] = nil
    blocks[2] = Self.store(Self.block(3), in: file)
    #expect(blocks[1]?.read() == Self.block(2) && blocks[2]?.read() == Self.block(3))
    #expect(Self.store(Self.block(4), in: file) == nil)
  }

  @Test("O11: the history leaves the disk's reserve to the store, and a log line states it once")
  func reserve() throws {
    let folder = try Self.folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let lines = Mutex(0)
    let file = Self.file(folder, reserve: 1 << 60) { _ in lines.withLock { $0 += 1 } }
    for number in 1...3 { #expect(Self.store(Self.block(number), in: file) == nil) }
    #expect(lines.withLock { $0 } == 1)
  }

  @Test("O11: without a folder, the history stays in memory until the folder is there")
  func noFolder() throws {
    let folder = URL(fileURLWithPath: "/tmp/pr-none-\(UUID().uuidString)")
    let file = Self.file(folder)
    #expect(Self.store(Self.block(1), in: file) == nil)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    #expect(Self.store(Self.block(2), in: file)?.read() == Self.block(2))
  }

  @Test("O11: a changed history file ends the process before anybody sees its contents")
  func damaged() async throws {
    let ended = try await #require(
      processExitsWith: .exitCode(70), observing: [\.standardErrorContent]
    ) {
      let folder = try Self.folder()
      let file = Self.file(folder)
      let block = try #require(Self.store(Self.block(1), in: file))
      let open = try #require(Self.openFile(in: folder))
      try FileManager.default.removeItem(at: folder)
      let handle = try FileHandle(forUpdating: open)
      try handle.seek(toOffset: 100)
      try handle.write(contentsOf: [1, 2, 3])
      _ = block.read()
    }
    let text = String(decoding: ended.standardErrorContent, as: UTF8.self)
    #expect(text.contains("history cannot be read"))
  }
}
