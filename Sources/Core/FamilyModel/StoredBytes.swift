/// The size of an event in the relay's store, computed from its parts. Equal events have equal sizes
/// in every process, whatever the encoding of the store is.
extension Event {
  /// Bytes that every event takes: the store's columns and indexes, the event's numbers and its hash.
  private static let fixedBytes = 256

  /// Bytes of the event in the store, to within about a tenth.
  package var storedBytes: Int {
    Self.fixedBytes + (signature?.storedBytes ?? 0) + body.storedBytes
  }
}

extension Event.Body {
  /// Bytes of the parts whose size varies.
  fileprivate var storedBytes: Int {
    switch self {
    case .rosterChanged(let roster): roster.storedBytes
    case .accountChanged(_, let content), .posted(_, let content), .contactChanged(_, let content),
      .withdrawn(_, let content), .ageNoted(_, let content):
      content.sealedBytes
    case .ageSet(_, let content, let proof), .settingsChanged(_, let content, let proof):
      content.sealedBytes + proof.count
    case .asked(let header, let content): header.parts.count + content.sealedBytes
    case .answeredInPerson(let header, let content, let decision, let proof):
      header.parts.count + content.sealedBytes + decision.choice.id.utf8.count + proof.count
    case .decided(let decision): decision.choice.id.utf8.count
    case .keysShared(let wraps): wraps.reduce(0) { $0 + $1.storedBytes }
    case .complained(let keys): 16 * keys.count
    case .opaque(let body): body.bytes.count
    case .passcodeChanged, .invited, .joinRequested, .limitsChanged, .reminded, .cancelled, .beat: 0
    }
  }
}

extension KeyWrap {
  /// Bytes of the wrap in the store.
  package var storedBytes: Int { 16 + reader.count + bytes.count }
}

extension Content {
  /// Bytes of the sealed content; 0 for a content that is not sealed, which no relay stores.
  package var sealedBytes: Int { if case .sealed(let bytes) = self { bytes.count } else { 0 } }
}

extension Roster {
  /// Bytes of the roster in the store.
  package var storedBytes: Int {
    persons.reduce(0) { $0 + 8 + $1.displayName.utf8.count }
      + devices.reduce(0) {
        $0 + 16 + $1.publicKey.count + $1.signingKey.count + $1.agreementKey.count
      }
  }
}

extension Signature {
  /// Bytes of the signature and of the positions that it names.
  package var storedBytes: Int { Self.byteCount + 48 * (2 + known.heads.count) }
}
