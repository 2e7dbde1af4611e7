import FamilyModel
import Testing

private let now = Instant(milliseconds: 1_000_000)

private func question(
  _ people: [Subject], choices: [Choice] = [.approve, .decline], defaultChoice: Choice = .decline,
  expiration: Instant? = nil
) -> Question {
  Question(
    id: ID128(high: 1, low: 2), topic: .communication(people: people, actions: .message),
    choices: choices, defaultChoice: defaultChoice, expiration: expiration)
}

private let ada = Subject(handle: Handle("ada", .custom))

@Suite struct QuestionTests {
  @Test("Q1: one handle, several handles, or an update make a valid question")
  func makes() throws {
    try question([ada]).validate(now: now)
    try question([ada, Subject(handle: Handle("+15550100", .phoneNumber))]).validate(now: now)
    try Question(id: ID128(high: 0, low: 1), topic: .significantUpdate(description: "New chats"))
      .validate(now: now)
  }

  @Test("Q7: the default choices are approve and decline")
  func defaults() {
    #expect(question([ada]).choices == [.approve, .decline])
    #expect(question([ada]).defaultChoice == .decline)
  }

  @Test(
    "Q10: refuses each kind of invalid question with its own number",
    arguments: [
      (question([]), Problem.emptyHandle),
      (question([Subject(handle: Handle("  ", .custom))]), .emptyHandle),
      (
        question([Subject(handle: Handle(String(repeating: "x", count: 321), .custom))]),
        .handleTooLong
      ),
      (question([ada], choices: [.approve], defaultChoice: .decline), .defaultChoiceMissing),
      (question([ada], choices: [.approve, .approve], defaultChoice: .approve), .badChoices),
      (question([ada], expiration: now), .expirationInThePast),
      (
        question([
          Subject(
            handle: Handle("ada", .custom),
            avatar: Avatar(mediaType: "image/png", bytes: .init(repeating: 0, count: 65_537)))
        ]), .imageTooLarge
      ),
    ])
  func refuses(_ question: Question, _ problem: Problem) {
    #expect(throws: problem) { try question.validate(now: now) }
  }

  @Test("Q2: numbers and addresses ignore spelling; custom names keep their case")
  func canonical() {
    #expect(
      Handle("+1 (555) 010-0199", .phoneNumber).canonical == Handle("+15550100199", .phoneNumber))
    #expect(Handle("Ada@Example.org", .emailAddress).canonical.value == "ada@example.org")
    #expect(Handle("Ada", .custom).canonical != Handle("ada", .custom).canonical)
  }

  @Test("an id has sixteen bytes and sorts by time")
  func identifiers() {
    var source = IDSource(seed: 7)
    let first = source.id(now: Instant(milliseconds: 1_000))
    let second = source.id(now: Instant(milliseconds: 1_001))
    #expect(first < second)
    #expect(ID128(bytes: first.bytes) == first)
    #expect(ID128(bytes: [1, 2, 3]) == nil)
  }
}

@Suite struct RosterTests {
  private let rosa = Person(id: PersonID(1), role: .organizer, displayName: "Rosa")
  private let emily = Person(id: PersonID(2), role: .child, displayName: "Emily")
  private let key = [UInt8](repeating: 7, count: 32)

  @Test("F1: a roster has exactly one organizer, and devices of its members only")
  func wellFormed() throws {
    let device = Device(id: DeviceID(1), person: emily.id, publicKey: key)
    try Roster(persons: [rosa, emily], devices: [device]).validate()
    #expect(throws: Problem.badFamily) { try Roster(persons: [emily]).validate() }
    #expect(throws: Problem.badFamily) {
      try Roster(persons: [rosa, Person(id: PersonID(3), role: .organizer, displayName: "X")])
        .validate()
    }
    let foreign = Device(id: DeviceID(1), person: PersonID(9), publicKey: key)
    #expect(throws: Problem.badFamily) {
      try Roster(persons: [rosa], devices: [foreign]).validate()
    }
  }
}
