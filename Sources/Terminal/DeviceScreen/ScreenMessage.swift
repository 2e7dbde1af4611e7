/// A message of a client: a subscription, or an act on one of the devices.
struct ClientMessage: Decodable {
  struct Watch: Decodable { var language: String }

  var watch: Watch?
  /// The act's number, which its result repeats.
  var id: Int?
  var device: String?
  var act: ScreenAct?
}

/// The number of a message whose other parts may be malformed.
struct MessageNumber: Decodable { var id: Int }

/// The screens of all devices.
struct ScreensMessage: Encodable { var screens: [Screen] }

/// The result of an act, or the reason why the agent refused it at once.
struct ActReply: Codable, Hashable, Sendable {
  struct Refusal: Codable, Hashable, Sendable {
    var code: Int
    var text: String
  }

  /// The act's number; `nil` for a message that is no act.
  var done: Int?
  var result: ActResult?
  var problem: Refusal?
}

/// The result of an act; empty for most acts.
struct ActResult: Codable, Hashable, Sendable {
  /// Sentences about one app.
  struct Explanation: Codable, Hashable, Sendable {
    var app: String
    var sentences: [String]
  }

  var explanations: [Explanation]?
}
