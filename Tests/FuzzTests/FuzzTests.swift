import Foundation
import FuzzTargets
import TestThreads
import Testing

/// Runs the fuzz targets on the stored corpus and the seeds, without a fuzzer.
@Suite(.ownThread) struct FuzzTests {
  private static let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Verification/fuzzing/corpus")

  @Test("X2: no input of the corpus traps a decoder or machine", arguments: FuzzTarget.allCases)
  func corpus(_ target: FuzzTarget) throws {
    let file = Self.corpus.appendingPathComponent("\(target.rawValue).txt")
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    #expect(lines.count > 50)
    for line in lines {
      let bytes = try #require(Data(base64Encoded: String(line)))
      bytes.withUnsafeBytes { target.run($0) }
    }
  }

  @Test(
    "X2: no seed traps a decoder or machine, complete or truncated", arguments: FuzzTarget.allCases)
  func seeds(_ target: FuzzTarget) {
    #expect(!target.seeds.isEmpty)
    for seed in target.seeds {
      for length in stride(from: seed.count, through: 0, by: -max(1, seed.count / 40)) {
        seed.prefix(length).withUnsafeBytes { target.run($0) }
      }
    }
  }
}
