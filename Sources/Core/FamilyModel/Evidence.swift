/// A signed event of a guardian, reduced to the parts that an app may read. The app verifies it
/// before it applies an app entry.
public struct Evidence: Hashable, Sendable {
  /// The event with its signature. In an in-person answer the header has no app and the content is
  /// a digest of the sealed bytes. In other events the content is sealed as it travelled.
  public var event: Event
  /// The header of the decided question, without the app; ``tags`` commit to the app.
  public var question: QuestionHeader?
  /// The key that opens the content of this event and of no other.
  public var key: [UInt8]
  /// The tags that the question's ``QuestionHeader/subjects`` are a digest of.
  public var tags: SubjectTags?
  /// Creates the evidence for one app entry.
  public init(
    event: Event, question: QuestionHeader? = nil, key: [UInt8] = [], tags: SubjectTags? = nil
  ) {
    self.event = event
    self.question = question
    self.key = key
    self.tags = tags
  }
}

/// Commitments to the subjects of a question. Each tag is a digest under its own key, so a device
/// can reveal each subject separately.
public struct SubjectTags: Hashable, Sendable {
  /// The commitment to one subject.
  public struct Tag: Hashable, Sendable {
    /// The digest of the item under the key.
    public var tag: [UInt8]
    /// The tag's key; empty if the app may not read the item.
    public var key: [UInt8]
    /// A handle's kind and value, or an update's description; empty if the app may not read it.
    public var item: [UInt8]
    /// Creates a tag; without key and item, the subject stays hidden.
    public init(tag: [UInt8], key: [UInt8] = [], item: [UInt8] = []) {
      self.tag = tag
      self.key = key
      self.item = item
    }
  }
  /// The digest of the app's identifier.
  public var app: [UInt8]
  /// The key of the app's digest; empty for other apps.
  public var appKey: [UInt8]
  /// The tags of the subjects, in the order of the subjects.
  public var items: [Tag]
  /// Creates the tags of one question.
  public init(app: [UInt8], appKey: [UInt8], items: [Tag]) {
    self.app = app
    self.appKey = appKey
    self.items = items
  }
}

/// A roster reduced to what an app needs for verification: roles and signing keys, without names.
/// The signature covers the complete roster.
public struct RosterProof: Hashable, Sendable {
  /// The roster's position in the family's log.
  public var seq: UInt64
  /// The command that produced the roster.
  public var command: CommandID
  /// The signature by the organizer's device, or by a guardian's device of the previous roster.
  public var signature: Signature
  /// The roster without names and without the devices' other keys.
  public var roster: Roster
  /// The digest of the omitted parts.
  public var hiddenDigest: [UInt8]
  /// Creates the proof of one roster.
  public init(
    seq: UInt64, command: CommandID, signature: Signature, roster: Roster, hiddenDigest: [UInt8]
  ) {
    self.seq = seq
    self.command = command
    self.signature = signature
    self.roster = roster
    self.hiddenDigest = hiddenDigest
  }
}

extension Roster {
  /// The roster without names, and with only the signing key of each device.
  public var withoutNames: Roster {
    Roster(
      persons: persons.map { Person(id: $0.id, role: $0.role, displayName: "") },
      devices: devices.map {
        Device(id: $0.id, person: $0.person, publicKey: [], signingKey: $0.signingKey)
      })
  }
}
