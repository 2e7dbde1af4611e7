package import FamilyModel

/// Erasing contents.
///
/// An erased event keeps all its parts but the content: position, command, signature, and the hash of
/// its chain. The digest of the sealed bytes replaces the content, so that the signature still
/// verifies. The chain's hash covers the bytes themselves. A reader therefore believes the hash of an
/// erased event until the next signed event that names a later position.
extension Event {
  /// The event without its content; `nil` if it has none, or if the content is erased already.
  package func erasingContent(digest: ([UInt8]) -> [UInt8]) -> Event? {
    guard case .sealed(let bytes) = body.content else { return nil }
    var event = self
    event.body = body.replacing(.erased(digest(bytes)))
    return event
  }
}

extension Event.Body {
  /// Whether the content is erased.
  package var isErased: Bool { if case .erased = content { true } else { false } }

  /// Whether readers accept the event without its content: a text, or a question that its content
  /// does not turn into a permission. An approved question without its content permits nothing.
  package var mayBeErased: Bool {
    switch self {
    case .asked, .posted: true
    case .answeredInPerson(_, _, let decision, _): decision.choice.answer == .denial
    default: false
    }
  }
}
