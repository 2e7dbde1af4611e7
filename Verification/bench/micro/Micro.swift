import ArgumentParser
import Foundation

/// The smallest parts, each beside what it cannot do without.
@main
struct Micro: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench-micro",
    abstract: "The smallest parts: times beside a bare reference, and counts of instructions.",
    subcommands: [Times.self, Commits.self, Check.self, Count.self], defaultSubcommand: Times.self)
}

/// Nanoseconds, in turns with the references.
struct Times: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Nanoseconds of each part and of its reference, in turns; medians.")
  @Option(help: "How often each is measured.") var rounds = 7
  @Option(help: "Milliseconds of one measurement.") var milliseconds = 60.0
  @Flag(help: "JSON instead of a table.") var json = false

  func validate() throws {
    guard rounds >= 1, milliseconds > 0 else {
      throw ValidationError("--rounds is 1 or more, --milliseconds above 0.")
    }
  }

  private struct Row: Codable {
    var name: String
    var reference: String
    var nanoseconds: Double
    var referenceNanoseconds: Double
  }

  func run() throws {
    // First, while the memory is as the system gave it.
    let (own, taken) = KnownPart.memory()
    var rows: [Row] = []
    for part in try Part.all() + Part.large() {
      var times: [[Double]] = [[], []]
      for _ in 0...rounds {
        times[0].append(time(part.run))
        times[1].append(time(part.reference))
      }
      // The first was to warm up.
      let medians = times.map { $0.dropFirst().sorted()[rounds / 2] / Double(part.unit) }
      rows.append(
        Row(
          name: part.name, reference: part.referenceName, nanoseconds: medians[0],
          referenceNanoseconds: medians[1]))
    }
    guard !json else {
      return print(String(decoding: try JSONEncoder().encode(rows), as: UTF8.self))
    }
    print("                                              ns   reference ns   ratio   reference")
    for row in rows {
      let name = row.name.padding(toLength: 40, withPad: " ", startingAt: 0)
      print(
        name
          + String(
            format: "%8.0f %14.0f %7.1f   ", row.nanoseconds, row.referenceNanoseconds,
            row.nanoseconds / row.referenceNanoseconds) + row.reference)
    }
    print(
      String(
        format: "1,000,000 known handles: %.1f MB of bytes take %.1f MB, %.2f times", own / 1e6,
        taken / 1e6, taken / own))
  }

  /// Nanoseconds of one run.
  private func time(_ body: () -> Void) -> Double {
    var count = 0
    let start = DispatchTime.now().uptimeNanoseconds
    var end = start
    repeat {
      body()
      count += 1
      end = DispatchTime.now().uptimeNanoseconds
    } while Double(end - start) < milliseconds * 1e6
    return Double(end - start) / Double(count)
  }
}
