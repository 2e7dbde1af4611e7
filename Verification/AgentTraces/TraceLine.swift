package import Foundation

/// A line of the trace of an agent or of the relay. Each step has the members that it needs.
package struct TraceLine: Decodable, Sendable {
  /// The time on the wall clock, in milliseconds since 1970.
  package var at: Int64
  /// The time on the machine's clock, in microseconds; absent in a trace of an older program.
  package var mono: UInt64?
  package var step: String
  package var family: UInt64?
  package var device: UInt32?
  package var audience: UInt64?
  package var seq: UInt64?
  package var seqs: [UInt64]?
  package var command: UUID?
  package var about: UUID?
  package var question: UUID?
  package var outcome: String?
  package var position: UInt64?
  package var problem: UInt16?
  /// The kind of a committed event.
  package var kind: String?
  /// The bytes of a committed event.
  package var bytes: Int?
}
