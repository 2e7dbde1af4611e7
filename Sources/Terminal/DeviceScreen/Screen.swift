/// The screen of a device as a document for programs. A newer document replaces the one before.
///
/// Codes are never translated; texts are in one language. Times are milliseconds since 1970.
package struct Screen: Codable, Hashable, Sendable {
  /// The newest event of an audience that the device has applied.
  package struct Position: Codable, Hashable, Sendable {
    package var audience: UInt64
    package var seq: UInt64
  }

  /// A notice that the owner has not dismissed.
  package struct Notification: Codable, Hashable, Sendable {
    package var id: String
    package var at: Int64
    package var kind: String
    package var text: String
    package var isRead: Bool
  }

  /// A command of this device that the relay, or the device, refused.
  package struct Refusal: Codable, Hashable, Sendable {
    package var at: Int64
    package var text: String
    package var code: Int
  }

  package var family: UInt64
  package var device: UInt32
  package var person: UInt32
  package var name: String
  package var role: String
  package var relay: String
  /// Whether the device is no longer in the family.
  package var isShutOut: Bool
  /// The number of commands that the relay has not acknowledged.
  package var outbox: Int
  package var hasPasscode: Bool
  package var language: String
  package var positions: [Position]
  /// The notices, newest first.
  package var notices: [Notification]
  /// Sentences about the connection and the membership; empty on a connected device.
  package var banners: [String]
  /// The newest refusals, oldest first.
  package var refusals: [Refusal]
  /// The prompts without an answer; a screen shows the first one.
  package var prompts: [Prompt]
  /// The owner on the device of a child or an adult; all children on a guardian's device.
  package var children: [Child]
}
