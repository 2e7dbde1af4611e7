import FamilyCore
import FamilyModel
import History

/// Builds the history of a correct run of one family, which tests then alter.
struct HistoryBuilder {
  static let family = FamilyID(1)
  static let app = AppID("example.landmarks")
  static let rosa = address(1)
  static let alex = address(2)
  static let emily = address(3)
  static let landmarks = AppAddress(emily, app)
  static let ada = Handle("ada", .custom)
  static let question = Question(
    id: id(100), topic: .communication(people: [Subject(handle: ada)], actions: .message))
  static let roster = Roster(
    persons: [
      Person(id: PersonID(1), role: .organizer, displayName: "Rosa"),
      Person(id: PersonID(2), role: .guardian, displayName: "Alex"),
      Person(id: PersonID(3), role: .child, displayName: "Emily"),
    ],
    devices: (1...3).map { number in
      Device(
        id: DeviceID(number), person: PersonID(number),
        publicKey: .init(repeating: UInt8(number), count: 32))
    })

  var log: [Event] = []
  var history = History()

  static func id(_ number: UInt64) -> ID128 { ID128(high: 0, low: number) }
  static func address(_ device: UInt32) -> DeviceAddress {
    DeviceAddress(family: family, device: DeviceID(device))
  }

  static func header(expiration: Instant? = nil) -> QuestionHeader {
    QuestionHeader(
      id: question.id, child: PersonID(3), app: app, subjects: [1],
      choices: question.choices.map { ChoiceHeader(id: $0.id, answer: $0.answer) },
      expiration: expiration)
  }

  static func decision(_ choice: Choice) -> Event.Body {
    .decided(
      Decision(
        question: question.id, choice: ChoiceHeader(id: choice.id, answer: choice.answer)))
  }

  /// Appends an event to the relay's log.
  @discardableResult
  mutating func event(
    _ body: Event.Body, by device: UInt32, in audience: Audience = .conversation(PersonID(3)),
    command: UInt64? = nil, at: Int64 = 0
  ) -> UInt64 {
    let seq = UInt64(log.count) + 1
    log.append(
      Event(
        seq: seq, previous: log.last { $0.audience == audience }?.seq ?? 0, audience: audience,
        command: Self.id(command ?? seq), device: DeviceID(device),
        at: Instant(milliseconds: at), body: body))
    return seq
  }

  mutating func record(_ facts: Fact...) {
    for fact in facts { history.record(fact, at: Instant(milliseconds: 0)) }
  }

  /// Records that the device receives and applies an event of the log.
  mutating func apply(_ seq: UInt64, on device: DeviceAddress) {
    let event = log[Int(seq) - 1]
    record(
      .received(device, event.audience, seq: seq),
      .applied(device, event.audience, seq: seq, event.command))
    if case .decided(let decision) = event.body {
      record(.decided(device, decision.question, choice: decision.choice.id))
    }
  }

  /// A complete approval that reaches all devices and the app.
  ///
  /// - Parameters:
  ///   - skip: Facts to leave out: `acknowledged`, `decision` on Alex's device, `handled`.
  ///   - midst: Adds facts between the decision's commit and its delivery.
  static func approval(
    skip: Set<String> = [], _ midst: (inout HistoryBuilder) -> Void = { _ in }
  ) -> HistoryBuilder {
    var builder = HistoryBuilder()
    let founded = builder.event(.rosterChanged(roster), by: 0, in: .family)
    let asked = builder.event(.asked(header(), .question(question)), by: 3)
    for device in [rosa, alex, emily] { builder.apply(founded, on: device) }
    builder.record(.registered(landmarks), .sent(landmarks, question.id))
    builder.record(.issued(emily, id(asked)), .acknowledged(emily, id(asked), seq: asked))
    for device in [rosa, alex, emily] { builder.apply(asked, on: device) }
    let decided = builder.event(decision(.approve), by: 1)
    builder.record(.issued(rosa, id(decided)))
    if !skip.contains("acknowledged") {
      builder.record(.acknowledged(rosa, id(decided), seq: decided))
    }
    midst(&builder)
    for device in [rosa, alex, emily] where !skip.contains("decision") || device != alex {
      builder.apply(decided, on: device)
    }
    builder.record(.knows(landmarks, [ada], named: [ada]))
    if !skip.contains("handled") {
      builder.record(
        .handled(landmarks, question.id, choice: "approve"), .consumed(landmarks, question.id))
    }
    return builder
  }

  /// The history with its end: healed, converged, and the stored log.
  func ended(_ after: Fact...) -> History {
    var history = history
    let facts =
      [.healed, .converged] + after + log.map { .stored(Self.family, $0) } + [.storeRead]
    for fact in facts { history.record(fact, at: Instant(milliseconds: 0)) }
    return history
  }
}

extension History {
  /// The names of the violated checkers.
  var violated: [String] { verdicts().filter(\.verdict.isViolated).map(\.name) }

  func verdict(_ checker: some Checker) -> Verdict { checker.check(self) }
}
