import FamilyModel
import RelayStore
import RelayWire
import SystemClock
import ZeroMQ

/// Makes one JSON line for each event once the event is durable, before the relay sends anything
/// about it.
///
/// A line contains identifiers and sizes only: no name, no content. The wall clock `at` has
/// milliseconds since 1970, and the clock `mono` microseconds since the machine's start. The value
/// `person` is the child of a conversation, or the owner of an account. The device made the command
/// at its time `sent`.
public struct CommitTrace: Sendable {
  private let write: @Sendable (String) -> Void

  /// A trace that passes lines, without line breaks, to `write` on the thread of the commits.
  ///
  /// Precondition: `write` returns at once, because a commit waits for it.
  public init(_ write: @escaping @Sendable (_ line: String) -> Void) { self.write = write }

  func record(_ events: [StoredEvent]) {
    guard !events.isEmpty else { return }
    let (at, mono) = (Instant.now.milliseconds, MonotonicInstant.now.nanoseconds / 1_000)
    let clocks = "{\"at\":\(at),\"mono\":\(mono),\"step\":\"committed\""
    for event in events { write(clocks + Self.facts(event) + "}") }
  }

  private static func facts(_ event: StoredEvent) -> String {
    let body = (try? Event.decode(event.payload))?.body
    let person = event.audience.conversationChild ?? event.audience.accountPerson
    var facts = [
      ("family", "\(event.family.rawValue)"), ("audience", "\(event.audience.rawValue)"),
      ("seq", "\(event.seq)"), ("device", "\(event.device.rawValue)"),
      ("command", "\"\(event.command.uuid.uuidString)\""),
      ("kind", "\"\(body?.kind ?? "unknown")\""), ("bytes", "\(event.payload.count)"),
      ("sent", "\(event.command.time.milliseconds)"),
    ]
    if let person { facts.append(("person", "\(person.rawValue)")) }
    if let question = body?.question {
      facts.append(("question", "\"\(question.uuid.uuidString)\""))
    }
    return facts.map { ",\"\($0)\":\($1)" }.joined()
  }
}

extension Event.Body {
  /// The name of the body's case.
  fileprivate var kind: String {
    switch self {
    case .rosterChanged: "rosterChanged"
    case .limitsChanged: "limitsChanged"
    case .accountChanged: "accountChanged"
    case .asked: "asked"
    case .reminded: "reminded"
    case .cancelled: "cancelled"
    case .decided: "decided"
    case .posted: "posted"
    case .contactChanged: "contactChanged"
    case .passcodeChanged: "passcodeChanged"
    case .answeredInPerson: "answeredInPerson"
    case .withdrawn: "withdrawn"
    case .invited: "invited"
    case .joinRequested: "joinRequested"
    case .ageNoted: "ageNoted"
    case .ageSet: "ageSet"
    case .settingsChanged: "settingsChanged"
    case .keysShared: "keysShared"
    case .complained: "complained"
    case .beat: "beat"
    case .opaque: "opaque"
    }
  }

  /// The question that the event concerns; `nil` for other events.
  fileprivate var question: QuestionID? {
    switch self {
    case .asked(let header, _), .answeredInPerson(let header, _, _, _): header.id
    case .reminded(let id), .cancelled(let id): id
    case .decided(let decision): decision.question
    default: nil
    }
  }
}
