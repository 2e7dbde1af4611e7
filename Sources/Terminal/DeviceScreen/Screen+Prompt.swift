extension Screen {
  /// A dialog that waits for the owner's answer.
  package struct Prompt: Codable, Hashable, Sendable {
    /// A text field of the dialog.
    package struct Field: Codable, Hashable, Sendable {
      package var id: Int
      package var label: String
      package var value: String
    }

    /// A button of the dialog.
    package struct Choice: Codable, Hashable, Sendable {
      package var id: String
      package var title: String
      /// `primary`, `secondary` or `cancel`.
      package var role: String
    }

    /// The number that an answer names; unique among all runs of the agent.
    package var id: UInt64
    package var kind: String
    @Nullable package var app: String?
    @Nullable package var appID: String?
    /// The name of the app's window that asked; empty: none given.
    package var window: String
    package var title: String
    package var lines: [String]
    /// The recipients of a message that is being composed.
    @Nullable package var to: String?
    package var people: [Person]
    package var fields: [Field]
    package var choices: [Choice]
    /// The reason why the last passcode had no effect.
    @Nullable package var failure: String?
    /// The moment before which the device accepts no passcode.
    @Nullable package var waitUntil: Int64?
  }

  /// A person of a question.
  package struct Person: Codable, Hashable, Sendable {
    /// The facts of a picture, whose bytes no document carries.
    package struct Picture: Codable, Hashable, Sendable {
      package var mediaType: String
      package var bytes: Int
      /// Whether the content check found the picture clean; every other picture has a warning.
      package var isClean: Bool
      package var text: String
    }

    @Nullable package var name: String?
    package var handle: String
    package var handleKind: String
    @Nullable package var picture: Picture?
  }
}
