import FamilyModel
import Foundation
import SystemPackage
import Testing

@testable import chaos

/// A disk whose operations are journalled as the shim does.
private final class TestDisk {
  let folder: URL
  let power: PowerLoss
  private var writer: DiskJournalWriter?
  /// The bytes that other lives of the process left in the journal.
  private var before = 0
  private var numbers: [String: Int] = [:]

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    power = PowerLoss(journal: folder.appendingPathComponent("process.journal"))
    try start()
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func file(_ index: Int, of name: String) -> URL {
    folder.appendingPathComponent(name + PowerLoss.suffixes[index])
  }

  func content(_ index: Int, of name: String = "a.sqlite") -> [UInt8]? {
    (try? Data(contentsOf: file(index, of: name))).map { [UInt8]($0) }
  }

  /// Begins a life of the process, whose numbers of databases start from zero.
  func start(_ names: [String] = []) throws {
    try power.absorbJournal()
    let journal = try FileDescriptor.open(
      FilePath(power.journal.path), .writeOnly, options: [.create, .append],
      permissions: [.ownerReadWrite])
    before = try journal.size()
    writer = DiskJournalWriter(descriptor: journal)
    numbers = [:]
    for name in names { _ = try number(of: name) }
  }

  private func number(of name: String) throws -> Int {
    if let number = numbers[name] { return number }
    let number = numbers.count
    numbers[name] = number
    let record = DiskRecord(operation: .name, file: 0, database: number)
    try writer!.append(record, Array(file(0, of: name).path.utf8))
    return number
  }

  var mark: Int { before + writer!.size }

  func record(_ operation: DiskOperation, _ index: Int, of name: String, at offset: Int = 0) throws
  {
    try writer!.append(
      DiskRecord(
        operation: operation, file: index, database: try number(of: name), offset: offset))
  }

  func write(_ index: Int, _ bytes: [UInt8]?, _ offset: Int, of name: String = "a.sqlite") throws {
    let path = FilePath(file(index, of: name).path)
    if !FileManager.default.fileExists(atPath: path.string) {
      try record(.create, index, of: name)
    }
    let descriptor = try FileDescriptor.open(
      path, .readWrite, options: [.create], permissions: [.ownerReadWrite])
    defer { try? descriptor.close() }
    var record = DiskRecord(
      operation: bytes == nil ? .truncate : .write, file: index, database: try number(of: name),
      offset: offset)
    (record.extent, record.size) = (bytes?.count ?? 0, try descriptor.size())
    let sectors = record.sectors
    let end = min(record.size, sectors.upperBound * DiskRecord.sector)
    var former = [UInt8](repeating: 0, count: max(0, end - record.begin))
    try former.withUnsafeMutableBytes { try descriptor.fill($0, at: record.begin) }
    try writer!.append(record, former)
    if let bytes {
      try descriptor.writeAll(toAbsoluteOffset: Int64(offset), bytes)
    } else {
      try descriptor.resize(to: Int64(offset))
    }
  }

  func sync(_ index: Int, of name: String = "a.sqlite", before mark: Int? = nil) throws {
    try record(.sync, index, of: name, at: mark ?? self.mark)
  }

  func remove(_ index: Int, of name: String = "a.sqlite") throws {
    try record(.remove, index, of: name)
    try? FileManager.default.removeItem(at: file(index, of: name))
  }
}

@Suite struct PowerLossTests {
  /// A seed whose power loss keeps nothing that was not synced.
  static let losesAll: UInt64 = (1...).first { seed in
    var random = IDSource(seed: seed)
    return Bool.random(using: &random)
  }!

  @Test(
    "equals a model with whole images over random operations, restarts and power losses",
    arguments: 1...8)
  func model(_ seed: UInt64) throws {
    var random = IDSource(seed: seed)
    let names = ["a.sqlite", "b.sqlite"]
    let disk = try TestDisk()
    try disk.start(names)
    var model = NaivePowerLoss()
    for _ in 0..<300 {
      let file = Int.random(in: 0..<model.files.count, using: &random)
      let (index, name) = (file % 3, names[file / 3])
      let exists = model.files[file].now != nil
      switch Int.random(in: 0..<20, using: &random) {
      case 0..<10:
        let area = Bool.random(using: &random) ? 60_000 : 3_000
        let offset = Int.random(in: 0...area, using: &random)
        let bytes = [UInt8](
          repeating: .random(in: 0...2, using: &random),
          count: .random(in: 1...5_000, using: &random))
        try disk.write(index, bytes, offset, of: name)
        model.write(file, bytes, offset)
      case 10..<13 where exists:
        let size = Int.random(in: 0...60_000, using: &random)
        try disk.write(index, nil, size, of: name)
        model.write(file, nil, size)
      case 13..<16 where exists:
        try disk.sync(index, of: name)
        model.sync(file)
      case 16 where index > 0:
        try disk.remove(index, of: name)
        model.remove(file)
      case 17:
        try disk.start(names)
        model.restart()
      case 18:
        let cut = UInt64.random(in: 0...1_000, using: &random)
        #expect(try disk.power.cutPower(cut) == model.cutPower(cut))
        try disk.start(names)
      default: break
      }
      let content = disk.content(index, of: name)
      try #require(content == model.files[file].now, "file \(index) of \(name)")
    }
    let cut = random.next()
    #expect(try disk.power.cutPower(cut) == model.cutPower(cut))
    for (file, expected) in model.files.enumerated() {
      #expect(disk.content(file % 3, of: names[file / 3]) == expected.now, "file \(file)")
    }
  }

  @Test("several power losses in a row keep what was synced")
  func repeated() throws {
    let disk = try TestDisk()
    for round: UInt8 in 1...5 {
      try disk.write(0, Array(repeating: round, count: 4_096), Int(round) * 4_096)
      try disk.sync(0)
      try disk.write(0, [99], 0)
      try disk.power.cutPower(Self.losesAll)
      try disk.power.cutPower(Self.losesAll)
      try disk.start()
      let content = try #require(disk.content(0))
      #expect(content[0] == 0 && content[Int(round) * 4_096] == round)
    }
  }

  @Test("a sync does not cover a write that another thread began after it")
  func concurrentSync() throws {
    let disk = try TestDisk()
    try disk.write(1, [1], 0)
    let mark = disk.mark
    try disk.write(1, [2], 512)
    try disk.sync(1, before: mark)
    try disk.power.cutPower(Self.losesAll)
    #expect(disk.content(1) == [1])
  }

  @Test("bytes that a failed sync left out are durable only after they are written again")
  func forgotten() throws {
    let disk = try TestDisk()
    try disk.write(1, [1], 0)
    try disk.sync(1)
    try disk.write(1, [2], 0)
    try disk.record(.forget, 1, of: "a.sqlite", at: disk.mark)
    try disk.sync(1)
    // A restart does not change the state of the system's memory.
    try disk.start()
    #expect(disk.content(1) == [2])
    try disk.sync(1)
    try disk.power.cutPower(Self.losesAll)
    #expect(disk.content(1) == [1])

    try disk.start()
    try disk.write(1, [2], 0)
    try disk.record(.forget, 1, of: "a.sqlite", at: disk.mark)
    try disk.start()
    try disk.write(1, [2], 0)
    try disk.sync(1)
    try disk.power.cutPower(Self.losesAll)
    #expect(disk.content(1) == [2])
  }

  @Test("a torn record at the journal's end, and what other programs have written, change nothing")
  func torn() throws {
    let disk = try TestDisk()
    try Data([7, 7]).write(to: disk.file(0, of: "other.sqlite"))
    try disk.start()
    try disk.write(0, [1, 2, 3], 0)
    try disk.sync(0)
    let journal = try FileHandle(forUpdating: disk.power.journal)
    try journal.seekToEnd()
    try journal.write(contentsOf: Data([0x54, 0x41, 0x48, 0x43, 1, 0, 0, 0]))
    try disk.power.cutPower(Self.losesAll)
    #expect(disk.content(0) == [1, 2, 3])
    #expect(disk.content(0, of: "other.sqlite") == [7, 7])
  }

  @Test("reads of a store of 8 GB only the parts that were written")
  func large() throws {
    let disk = try TestDisk()
    // The file is sparse: reading all of it would take many seconds.
    try disk.write(0, [1], 8 << 30)
    try disk.sync(0)
    try disk.start()
    let clock = ContinuousClock()
    let time = try clock.measure {
      for round in 1...20 {
        try disk.write(0, [2], round << 20)
        try disk.sync(0)
        try disk.write(0, [3], round << 20)
        try disk.power.cutPower(Self.losesAll)
        try disk.start()
      }
    }
    #expect(time < .seconds(5))
    let file = try FileHandle(forReadingFrom: disk.file(0, of: "a.sqlite"))
    for round in 1...20 {
      try file.seek(toOffset: UInt64(round) << 20)
      #expect(try file.read(upToCount: 1) == Data([2]))
    }
  }
}
