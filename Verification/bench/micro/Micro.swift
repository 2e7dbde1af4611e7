import ArgumentParser
import Foundation
import Statistics
import TextTable

/// Measures the smallest parts, each beside a lower bound.
@main
struct Micro: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench-micro",
    abstract: "Measure the smallest parts: time beside a reference, and instruction counts.",
    subcommands: [Times.self, Commits.self, Check.self, Count.self], defaultSubcommand: Times.self)
}

/// Measures each part and its reference alternately, in nanoseconds.
struct Times: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measure each part and its reference alternately; medians, in nanoseconds.")
  @Option(help: "Measurements of each part.") var rounds = 7
  @Option(help: "Milliseconds of one measurement.") var milliseconds = 60.0
  @Flag(help: "Print JSON instead of a table.") var json = false

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
    // Memory is measured first, before the heap is fragmented.
    let (own, taken) = KnownPart.memory()
    var rows: [Row] = []
    for part in try Part.all() + Part.large() {
      var times: [[Double]] = [[], []]
      for _ in 0...rounds {
        times[0].append(time(part.run))
        times[1].append(time(part.reference))
      }
      // The first measurement is a warm-up.
      let medians = times.map { ($0.dropFirst().quantile(0.5) ?? .nan) / Double(part.unit) }
      rows.append(
        Row(
          name: part.name, reference: part.referenceName, nanoseconds: medians[0],
          referenceNanoseconds: medians[1]))
    }
    guard !json else {
      return print(String(decoding: try JSONEncoder().encode(rows), as: UTF8.self))
    }
    let cells = rows.map { row in
      [
        row.name, String(format: "%.0f", row.nanoseconds),
        String(format: "%.0f", row.referenceNanoseconds),
        String(format: "%.1f", row.nanoseconds / row.referenceNanoseconds), row.reference,
      ]
    }
    print(Table.render([["part", "ns", "reference ns", "ratio", "reference"]] + cells))
    print(
      String(
        format: "1,000,000 known handles: %.1f MB of text in %.1f MB of memory, %.2f times",
        own / 1e6,
        taken / 1e6, taken / own))
  }

  /// Runs the body for `milliseconds` and returns the nanoseconds of one run.
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
