extension Screen {
  /// A child with its conversation, or the owner of an adult's device without one.
  package struct Child: Codable, Hashable, Sendable {
    /// The facts that an app learned about the age.
    package struct Ages: Codable, Hashable, Sendable {
      package var app: String
      package var appID: String
      package var text: [String]
    }

    /// An app on one of the child's devices.
    package struct App: Codable, Hashable, Sendable {
      package var app: String
      package var text: String
    }

    /// A day of the use of the web.
    package struct WebDay: Codable, Hashable, Sendable {
      /// The day, as `2026-05-17`.
      package var day: String
      package var text: String
      /// The sites with the longest time first, at most ten.
      package var sites: [String]
      package var isShortened: Bool
    }

    /// A known handle.
    package struct Known: Codable, Hashable, Sendable {
      package var handle: String
      package var handleKind: String
      /// The app in which the handle is known; `nil`: in every app.
      @Nullable package var app: String?
      package var text: String
      @Nullable package var until: Int64?
    }

    /// A rule of the guardians for a site.
    package struct WebRule: Codable, Hashable, Sendable {
      package var site: String
      package var access: String
    }

    package var person: UInt32
    package var name: String
    package var limitsOn: Bool
    package var sharing: String
    package var sharingText: String
    @Nullable package var birthdateText: String?
    /// The newest entries, oldest first.
    package var entries: [Entry]
    package var known: [Known]
    package var ages: [Ages]
    package var apps: [App]
    /// The newest days first, at most seven.
    package var web: [WebDay]
    /// The access to sites without a rule.
    package var webOthers: String
    /// By site, at most 50.
    package var webRules: [WebRule]
    /// The check of sensitive pictures.
    package var safety: String
  }

  /// One item of a conversation.
  package struct Entry: Codable, Hashable, Sendable {
    package var id: String
    /// The event's number; `nil` until the relay has committed it.
    @Nullable package var seq: UInt64?
    package var at: Int64
    package var author: String
    package var isMine: Bool
    package var kind: String
    package var text: String
    @Nullable package var question: Question?
    @Nullable package var delivery: String?
    @Nullable package var deliveryText: String?
  }

  /// A question with its state.
  package struct Question: Codable, Hashable, Sendable {
    /// An answer that a guardian may choose.
    package struct Choice: Codable, Hashable, Sendable {
      package var id: String
      package var title: String
      package var answer: String
    }

    /// The owner's answer that waits in the outbox.
    package struct Answering: Codable, Hashable, Sendable {
      package var choice: String
      package var title: String
    }

    package var id: String
    @Nullable package var number: UInt64?
    package var app: String
    package var appID: String
    package var kind: String
    package var sentence: String
    package var people: [Person]
    @Nullable package var description: String?
    package var state: String
    @Nullable package var outcome: String?
    package var choices: [Choice]
    @Nullable package var answering: Answering?
  }
}
