import Crypto
package import FamilyModel
import Foundation

/// The key that an app's webhooks are signed with, as the receiver's library of Standard Webhooks
/// reads it: `whsec_` and 24 to 64 bytes in base64.
package struct WebhookSecret: Sendable, CustomStringConvertible {
  /// The lengths of a key, in bytes. Another length is invalid.
  package static let lengths = 24...64
  private static let prefix = "whsec_"

  fileprivate let bytes: [UInt8]

  /// The secret with these bytes; `nil` if their number is not in ``lengths``.
  package init?(bytes: [UInt8]) {
    guard Self.lengths.contains(bytes.count) else { return nil }
    self.bytes = bytes
  }

  /// Parses the text of a secret; `nil` if the text is no secret.
  package init?(_ text: String) {
    guard text.hasPrefix(Self.prefix),
      let data = Data(base64Encoded: String(text.dropFirst(Self.prefix.count)))
    else { return nil }
    self.init(bytes: Array(data))
  }

  /// A secret of 32 bytes from the system's generator.
  package static func random() -> WebhookSecret {
    var generator = SystemRandomNumberGenerator()
    return WebhookSecret(bytes: (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) })!
  }

  /// The secret for its file and for the receiver: `whsec_…`.
  package var text: String { Self.prefix + Data(bytes).base64EncodedString() }

  /// A text without the secret, so that no log contains it.
  package var description: String { "WebhookSecret" }
}

/// The headers that prove to a receiver that a webhook is the gateway's.
package struct WebhookSignature: Hashable, Sendable {
  /// The value of `webhook-id`. All attempts of one event have the same id.
  package let id: String
  /// The value of `webhook-timestamp`: the time of the attempt in seconds since 1970.
  package let timestamp: Int64
  /// The value of `webhook-signature`.
  package let value: String

  /// Signs a webhook.
  ///
  /// - Parameters:
  ///   - id: The webhook's id. Precondition: the id has no full stop.
  ///   - now: The time of the attempt. Receivers reject old times, so each attempt has its own.
  package init(id: String, now: Instant, body: [UInt8], secret: WebhookSecret) {
    self.id = id
    timestamp = now.milliseconds / 1_000
    var code = HMAC<SHA256>(key: SymmetricKey(data: secret.bytes))
    code.update(data: Array("\(id).\(timestamp).".utf8))
    code.update(data: body)
    value = "v1," + Data(code.finalize()).base64EncodedString()
  }

  /// The id of the webhooks for one event: `evt_`, 16 hex digits that name the app's log, `_` and
  /// the event's number.
  ///
  /// Each app counts its events from 1. The digits depend on the app, too, because one receiver
  /// may serve several apps.
  package static func id(store: String, app: String, number: UInt64) -> String {
    let log = SHA256.hash(data: Array("\(store)/\(app)".utf8)).prefix(8)
    let digits = log.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }
    return "evt_\(digits.joined())_\(number)"
  }

  /// The names and values of the three headers.
  package var headers: [(name: String, value: String)] {
    [("webhook-id", id), ("webhook-timestamp", "\(timestamp)"), ("webhook-signature", value)]
  }
}
