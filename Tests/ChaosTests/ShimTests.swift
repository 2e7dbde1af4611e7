import Foundation
import ProcessCluster
import Subprocess
import SystemPackage
import Testing

@testable import chaos

/// Runs a program under the shim. The program writes a file, syncs it and reads it again.
@Suite struct ShimTests {
  private static let script = """
    use Fcntl;
    use IO::Handle;
    sub outcome { my $result = shift; print defined $result ? $result + 0 : "error " . ($! + 0), "\\n" }
    no warnings;
    sysopen(my $file, $ARGV[0], O_RDWR | O_CREAT, 0600) or die;
    outcome(syswrite($file, "x" x 1000));
    outcome($file->sync);
    sysseek($file, 0, 0);
    outcome(sysread($file, my $bytes, 1000));
    """

  /// The outcomes of a write, a sync and a read, and the bytes that a power loss keeps.
  private func outcomes(_ operations: Control.Operations, seed: UInt64 = 1) async throws -> (
    [String], durable: Int?
  ) {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let control = try Control(folder.appendingPathComponent("control"))
    control.setErrors(operations, chance: 1, seed: seed)
    let power = PowerLoss(journal: folder.appendingPathComponent("journal"))
    let file = folder.appendingPathComponent("a.sqlite")
    let result = try await Subprocess.run(
      .name("perl"), arguments: ["-e", Self.script, file.path],
      environment: .inherit.updating([
        "LD_PRELOAD": Layout.program("libChaosShim.so"), "CHAOS_DISK": folder.path,
        "CHAOS_CONTROL": folder.appendingPathComponent("control").path,
        "CHAOS_JOURNAL": power.journal.path,
      ]), output: .string(limit: 1 << 16), error: .string(limit: 1 << 16))
    let lines = result.standardOutput.split(separator: "\n").map(String.init)
    try power.cutPower(PowerLossTests.losesAll)
    return (lines, (try? Data(contentsOf: file))?.count)
  }

  @Test("journals a write and its sync, so that a power loss keeps both")
  func none() async throws {
    let (lines, durable) = try await outcomes([])
    #expect(lines == ["1000", "0", "1000"] && durable == 1_000)
  }

  @Test("fails reads, writes or syncs with EIO, with nothing, a half or all of it done")
  func errors() async throws {
    #expect(try await outcomes(.reads).0 == ["1000", "0", "error 5"])
    var kept: Set<Int?> = []
    var synced: Set<Int?> = []
    // The shim draws with the seed and its process id, so a way may be missing in any number of runs.
    for seed: UInt64 in 1...100 where kept.count < 3 || synced.count < 2 {
      let (lines, durable) = try await outcomes(.writes, seed: seed)
      #expect(lines.prefix(2) == ["error 5", "0"] && lines[2] == "\(durable ?? 0)")
      kept.insert(durable)
      let (other, durableSync) = try await outcomes(.syncs, seed: seed)
      #expect(other == ["1000", "error 5", "1000"])
      synced.insert(durableSync)
    }
    #expect(kept == [0, 500, 1_000] && synced == [nil, 1_000])
  }
}
