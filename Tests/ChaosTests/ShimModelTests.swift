import FamilyModel
import Foundation
import ProcessCluster
import Subprocess
import SystemPackage
import Testing

@testable import chaos

/// Runs random operations of a program under the shim, kills it, and compares what a power loss
/// leaves with a model.
@Suite struct ShimModelTests {
  /// Carries out the operations in a file, each a line, and kills itself.
  private static let script = """
    use Fcntl;
    use IO::Handle;
    open(my $lines, "<", $ARGV[0]) or die;
    for my $line (<$lines>) {
      my ($operation, $path, $offset, $count, $byte) = split(" ", $line);
      if ($operation eq "remove") { unlink($path) or die "$path: $!"; next }
      sysopen(my $file, $path, O_RDWR | O_CREAT, 0600) or die;
      if ($operation eq "write") {
        sysseek($file, $offset, 0);
        syswrite($file, chr($byte) x $count) == $count or die;
      }
      if ($operation eq "truncate") { truncate($file, $offset) or die }
      if ($operation eq "sync") { $file->sync or die }
    }
    kill 9, $$;
    """

  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
  private var power: PowerLoss { PowerLoss(journal: folder.appendingPathComponent("journal")) }

  private func path(_ file: Int) -> URL {
    let name = ["a.sqlite", "b.sqlite"][file / 3]
    return folder.appendingPathComponent(name + PowerLoss.suffixes[file % 3])
  }

  /// One life of the program.
  private func run(_ lines: [String]) async throws {
    try power.absorbJournal()
    let operations = folder.appendingPathComponent("operations")
    try lines.joined(separator: "\n").write(to: operations, atomically: true, encoding: .utf8)
    let result = try await Subprocess.run(
      .name("perl"), arguments: ["-e", Self.script, operations.path],
      environment: .inherit.updating([
        "LD_PRELOAD": Layout.program("libChaosShim.so"), "CHAOS_DISK": folder.path,
        "CHAOS_JOURNAL": power.journal.path,
      ]), output: .discarded, error: .string(limit: 1 << 16))
    try #require(result.terminationStatus == .signaled(SIGKILL), "\(result.standardError)")
  }

  /// A random operation, which the model carries out as well.
  private func operation(_ model: inout NaivePowerLoss, _ random: inout IDSource) -> String? {
    let file = Int.random(in: 0..<model.files.count, using: &random)
    let exists = model.files[file].now != nil
    switch Int.random(in: 0..<16, using: &random) {
    case 0..<9:
      let offset = Int.random(in: 0...20_000, using: &random)
      let count = Int.random(in: 1...5_000, using: &random)
      let byte = UInt8.random(in: 0...2, using: &random)
      model.write(file, Array(repeating: byte, count: count), offset)
      return "write \(path(file).path) \(offset) \(count) \(byte)"
    case 9..<11 where exists:
      let size = Int.random(in: 0...25_000, using: &random)
      model.write(file, nil, size)
      return "truncate \(path(file).path) \(size)"
    case 11..<15 where exists:
      model.sync(file)
      return "sync \(path(file).path)"
    case 15 where exists && file % 3 > 0:
      model.remove(file)
      return "remove \(path(file).path)"
    default: return nil
    }
  }

  @Test(
    "a power loss after random operations and kills leaves what a model leaves", arguments: 1...4)
  func model(_ seed: UInt64) async throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var random = IDSource(seed: seed)
    var model = NaivePowerLoss()
    for _ in 0..<12 {
      // Each file is used in the same order, so that the draws of a power loss are those of the model.
      var lines = ["a.sqlite", "b.sqlite"].map {
        "sync \(folder.appendingPathComponent($0).path)"
      }
      for file in [0, 3] where model.files[file].now == nil { model.write(file, [], 0) }
      for file in [0, 3] { model.sync(file) }
      for _ in 0..<Int.random(in: 1...40, using: &random) {
        if let line = operation(&model, &random) { lines.append(line) }
      }
      try await run(lines)
      model.restart()
      if Bool.random(using: &random) {
        // Half of the lives end with a kill alone.
        let cut = PowerLossTests.losesAll
        _ = try power.cutPower(cut)
        _ = model.cutPower(cut)
      }
      for file in model.files.indices {
        let content = (try? Data(contentsOf: path(file))).map { [UInt8]($0) }
        try #require(content == model.files[file].now, "\(path(file).lastPathComponent)")
      }
    }
  }

  @Test("the journal begins again whenever everything is synced")
  func bounded() async throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let lines = (0..<500).flatMap { round in
      let file = round % 6
      return ["write \(path(file).path) \(round * 10) 5000 1", "sync \(path(file).path)"]
    }
    try await run(lines + ["write \(path(0).path) 0 100 2"])
    let journal = try FileDescriptor.open(FilePath(power.journal.path), .readOnly)
    defer { try? journal.close() }
    var reader = try DiskJournalReader(journal)
    var count = 0
    while try reader.next() != nil { count += 1 }
    #expect(count == 2, "the name of the store and its last write")
    try power.cutPower(PowerLossTests.losesAll)
    let content = try Data(contentsOf: path(0))
    #expect(content.first == 1 && content.count == 498 * 10 + 5_000)
  }
}
