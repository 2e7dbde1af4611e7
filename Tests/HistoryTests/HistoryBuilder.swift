import FamilyCore
import FamilyModel
import History

/// A history to be judged: what an orderly run of one family would leave behind, and what a test makes of it.
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
        id: DeviceID(number), person: PersonID(number), publicKey: .init(repeating: 1, count: 32))
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

  /// The relay has this event.
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

  mutating func note(_ facts: Fact...) {
    for fact in facts { history.note(fact, at: Instant(milliseconds: 0)) }
  }

  /// The device applies an event of the log.
  mutating func apply(_ seq: UInt64, on device: DeviceAddress) {
    let event = log[Int(seq) - 1]
    note(
      .received(device, event.audience, seq: seq),
      .applied(device, event.audience, seq: seq, event.command))
    if case .decided(let decision) = event.body {
      note(.decided(device, decision.question, choice: decision.choice.id))
    }
  }

  /// A question that was approved: everybody has everything. `restart` happens in the midst of it.
  static func approval(
    skip: Set<String> = [], _ midst: (inout HistoryBuilder) -> Void = { _ in }
  ) -> HistoryBuilder {
    var story = HistoryBuilder()
    let founded = story.event(.rosterChanged(roster), by: 0, in: .family)
    let asked = story.event(.asked(header(), .question(question)), by: 3)
    for device in [rosa, alex, emily] { story.apply(founded, on: device) }
    story.note(.registered(landmarks), .sent(landmarks, question.id))
    story.note(.issued(emily, id(asked)), .acknowledged(emily, id(asked), seq: asked))
    for device in [rosa, alex, emily] { story.apply(asked, on: device) }
    let decided = story.event(decision(.approve), by: 1)
    story.note(.issued(rosa, id(decided)))
    if !skip.contains("acknowledged") {
      story.note(.acknowledged(rosa, id(decided), seq: decided))
    }
    midst(&story)
    for device in [rosa, alex, emily] where !skip.contains("decision") || device != alex {
      story.apply(decided, on: device)
    }
    story.note(.knows(landmarks, [ada]))
    if !skip.contains("handled") {
      story.note(
        .handled(landmarks, question.id, choice: "approve"), .settled(landmarks, question.id))
    }
    return story
  }

  /// The history with its end: healed, at rest, the store read.
  func ended(_ after: Fact...) -> History {
    var history = history
    let facts =
      [.healed, .converged] + after + log.map { .stored(Self.family, $0) } + [.storeRead]
    for fact in facts { history.note(fact, at: Instant(milliseconds: 0)) }
    return history
  }
}

extension History {
  /// The names of the checkers that this history violates.
  var violated: [String] { verdicts().filter(\.verdict.isViolated).map(\.name) }

  func verdict(_ checker: some Checker) -> Verdict { checker.check(self) }
}
