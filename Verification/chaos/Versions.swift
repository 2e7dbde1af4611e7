import Foundation
import Synchronization

/// The versions of the programs that a run mixes.
///
/// The versions of a process alternate from start to start; the seed draws the first one. So processes
/// of both versions talk to one another, and each store is upgraded and taken back.
final class Versions: Sendable {
  /// The folder of the previous version's programs.
  let previous: URL
  private let seed: UInt64
  private let starts = Mutex<(own: Int, previous: Int)>((0, 0))

  init(previous: URL, seed: UInt64) {
    self.previous = previous
    self.seed = seed
  }

  /// The program for a process's start with this number.
  func program(_ name: String, _ own: String, start: Int) -> String {
    let old = previous.appendingPathComponent(URL(fileURLWithPath: own).lastPathComponent).path
    guard FileManager.default.isExecutableFile(atPath: old) else { return own }
    let first = name.utf8.reduce(seed) { ($0 &* 31) &+ UInt64($1) }
    let isOld = (first &+ UInt64(start)) % 2 == 0
    starts.withLock { if isOld { $0.previous += 1 } else { $0.own += 1 } }
    return isOld ? old : own
  }

  /// One line about the starts of both versions.
  var line: String {
    let (own, previous) = starts.withLock { $0 }
    return "\(own) starts of this version and \(previous) of the one in \(self.previous.path)"
  }

  /// A run without both versions tests nothing.
  var finding: String? {
    let (own, previous) = starts.withLock { $0 }
    return own > 0 && previous > 0 ? nil : "one version never ran: \(line)"
  }
}
