/// What a guardian's device signed, as far as an app may see it: what the app's own library verifies before it
/// believes its device.
public struct Evidence: Hashable, Sendable {
  /// The event with its signature. Of an answer in person the header has no app, and the content is the
  /// digest of what was sealed; of others the content is sealed, as it travelled.
  public var event: Event
  /// The header of the question that was decided, without the app: ``tags`` bind it.
  public var question: QuestionHeader?
  /// Opens the content of this one event, and of no other.
  public var key: [UInt8]
  /// What the question's ``QuestionHeader/subjects`` are a digest of.
  public var tags: SubjectTags?
  /// Evidence of these parts.
  public init(
    event: Event, question: QuestionHeader? = nil, key: [UInt8] = [], tags: SubjectTags? = nil
  ) {
    self.event = event
    self.question = question
    self.key = key
    self.tags = tags
  }
}

/// What a question is about, so that each thing can be shown to one who may know it, and is hidden from others:
/// a tag is a digest under a key of its own.
public struct SubjectTags: Hashable, Sendable {
  /// One thing that the question is about.
  public struct Tag: Hashable, Sendable {
    /// The digest of the item under the key.
    public var tag: [UInt8]
    /// Empty where the app may not know it.
    public var key: [UInt8]
    /// A handle's kind and value, or the description of an update; empty where the app may not know it.
    public var item: [UInt8]
    /// A tag with these parts.
    public init(tag: [UInt8], key: [UInt8] = [], item: [UInt8] = []) {
      self.tag = tag
      self.key = key
      self.item = item
    }
  }
  /// The digest of the app's identifier.
  public var app: [UInt8]
  /// Its key, for the app itself; otherwise empty.
  public var appKey: [UInt8]
  /// In order of the items.
  public var items: [Tag]
  /// Tags of these parts.
  public init(app: [UInt8], appKey: [UInt8], items: [Tag]) {
    self.app = app
    self.appKey = appKey
    self.items = items
  }
}

/// A roster as an app sees it: who may decide, with which signing keys, and no names. The signature is that of
/// the roster in full.
public struct RosterProof: Hashable, Sendable {
  /// Its place in the family's log.
  public var seq: UInt64
  /// The command that led to it.
  public var command: CommandID
  /// By the organizer's device, or a guardian's of the roster before it.
  public var signature: Signature
  /// Without names, and without the devices' other keys.
  public var roster: Roster
  /// The digest of what is left out.
  public var rest: [UInt8]
  /// A proof of these parts.
  public init(
    seq: UInt64, command: CommandID, signature: Signature, roster: Roster, rest: [UInt8]
  ) {
    self.seq = seq
    self.command = command
    self.signature = signature
    self.roster = roster
    self.rest = rest
  }
}

extension Roster {
  /// Without names, and of the devices those that sign, with the key that they sign with only.
  public var withoutNames: Roster {
    Roster(
      persons: persons.map { Person(id: $0.id, role: $0.role, displayName: "") },
      devices: devices.map {
        Device(id: $0.id, person: $0.person, publicKey: [], signingKey: $0.signingKey)
      })
  }
}
