import Foundation
import PrivateFiles
import TestDisk
import Testing

@Suite struct PrivateFileTests {
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
    "private-\(UUID().uuidString.prefix(8))")

  init() throws { try PrivateFile.createFolder(folder) }

  private func inFolder(_ body: () throws -> Void) rethrows {
    defer { try? FileManager.default.removeItem(at: folder) }
    try body()
  }

  private func set(mode: Int, of file: URL) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
  }

  @Test(
    "F3: an existing folder that lets other users in is refused", arguments: [0o755, 0o770, 0o701])
  func mode(_ mode: Int) throws {
    try inFolder {
      try PrivateFile.createFolder(folder)
      try set(mode: mode, of: folder)
      let failure = #expect(throws: PrivateFile.Failure.self) {
        try PrivateFile.createFolder(folder)
      }
      #expect(failure?.description.contains("chmod 700") == true)
    }
  }

  @Test(
    "F3: a folder and a file of another user are refused",
    .enabled(if: geteuid() == 0, "only root can give files away"))
  func owner() throws {
    try inFolder {
      let file = folder.appendingPathComponent("key")
      try PrivateFile.write(Data("key".utf8), to: file)
      #expect(try PrivateFile.read(file) == Data("key".utf8))
      #expect(chown(file.path, 12_345, 12_345) == 0)
      let failure = #expect(throws: PrivateFile.Failure.self) { try PrivateFile.read(file) }
      #expect(failure?.description.contains("another user") == true)
      #expect(chown(folder.path, 12_345, 12_345) == 0)
      #expect(throws: PrivateFile.Failure.self) { try PrivateFile.createFolder(folder) }
    }
  }

  @Test("T6: a power cut loses neither a written file nor its new folder")
  func entries() throws {
    func syncs(of entry: URL, _ body: () throws -> Void) throws -> Int {
      var status = stat()
      stat(entry.deletingLastPathComponent().path, &status)
      watch_entry(status.st_ino, entry.path)
      defer { watch_entry(0, "") }
      try body()
      return counted_entry_syncs()
    }
    try inFolder {
      let file = folder.appendingPathComponent("key")
      let written = try syncs(of: file) { try PrivateFile.write(Data("key".utf8), to: file) }
      let outer = folder.appendingPathComponent("a")
      let nested = try syncs(of: outer) {
        try PrivateFile.createFolder(outer.appendingPathComponent("b/c"))
      }
      let other = outer.appendingPathComponent("b/d")
      let created = try syncs(of: other) { try PrivateFile.createFolder(other) }
      #expect(written > 0 && nested > 0 && created > 0)
    }
  }

  @Test("O11: a report is replaced whole with mode 0600, and waits for no disk")
  func report() throws {
    try inFolder {
      let file = folder.appendingPathComponent("status.json")
      let before = counted_syncs()
      for text in ["old and long", "new"] {
        try PrivateFile.write(Data(text.utf8), to: file, isDurable: false)
      }
      #expect(counted_syncs() == before)
      #expect(try PrivateFile.read(file) == Data("new".utf8))
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["status.json"])
      try PrivateFile.write(Data("key".utf8), to: file)
      #expect(counted_syncs() == before + 2)
    }
  }

  @Test("F3: a prepared link leads no secret and no truncation to another file") func links() throws
  {
    try inFolder {
      let file = folder.appendingPathComponent("key")
      let victim = folder.appendingPathComponent("victim")
      try Data("old".utf8).write(to: victim)
      for name in ["key", "key.new-\(getpid())", "key.new"] {
        try FileManager.default.createSymbolicLink(
          at: folder.appendingPathComponent(name), withDestinationURL: victim)
      }
      try PrivateFile.write(Data("secret".utf8), to: file)
      #expect(try Data(contentsOf: victim) == Data("old".utf8))
      #expect(try PrivateFile.read(file) == Data("secret".utf8))
      let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
      #expect(mode as? Int == 0o600)
    }
  }

  @Test("F3: a failed write leaves no file behind") func failure() throws {
    try inFolder {
      let file = folder.appendingPathComponent("taken")
      try FileManager.default.createDirectory(
        at: file.appendingPathComponent("inner"), withIntermediateDirectories: true)
      #expect(throws: PrivateFile.Failure.self) { try PrivateFile.write(Data([1]), to: file) }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["taken"])
    }
  }

  @Test("F3: a process that holds keys writes no core file, and other processes cannot read it")
  func memory() throws {
    ProcessMemory.protect()
    #expect(ProcessMemory.isProtected)
    let limits = try String(contentsOfFile: "/proc/self/limits", encoding: .utf8)
    let line = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
    #expect(line?.split(separator: " ").suffix(3).first == "0")
  }
}
