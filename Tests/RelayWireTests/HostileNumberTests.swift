import FamilyModel
import Testing

@testable import RelayWire

/// Numbers that a foreign process chooses.
@Suite struct HostileNumberTests {
  private static let day = Account.Day(year: 2026, month: 11, day: 21)

  private func decode(_ content: Content) throws -> Content {
    try Content.sealed(content.bytes).opened()
  }

  @Test("T3: rejects days outside 1900 to 2200", arguments: [Int32.min, -1, 1899, 2201, .max])
  func years(year: Int32) {
    let day = Account.Day(year: year, month: 1, day: 1)
    #expect(throws: Problem.malformed) {
      try decode(.ageMemory(AppID("a"), AgeAnswer(gates: [13], day: day, range: nil)))
    }
    #expect(throws: Problem.malformed) {
      try decode(.account(Account(birthdate: day, region: "US", declaration: .selfDeclared)))
    }
  }

  @Test("T3: rejects ages that nobody reaches", arguments: [Int32.min, -1, 151, .max])
  func ages(age: Int32) {
    let answers = [
      AgeAnswer(gates: [age], day: Self.day, range: nil),
      AgeAnswer(
        gates: [13], day: Self.day, range: AgeRange(lower: age, upper: nil, declaration: nil)),
      AgeAnswer(
        gates: [13], day: Self.day, range: AgeRange(lower: nil, upper: age, declaration: nil)),
      AgeAnswer(gates: [13], day: Self.day, range: nil, known: AgeSpan(lower: age)),
      AgeAnswer(gates: [13], day: Self.day, range: nil, known: AgeSpan(upper: age)),
    ]
    for answer in answers {
      #expect(throws: Problem.malformed) { try decode(.ageMemory(AppID("a"), answer)) }
    }
  }

  @Test(
    "T3: rejects moments before 1970 and beyond the largest, in both decoders",
    arguments: [Int64.min, -1, Limits.times.upperBound + 1, .max])
  func times(milliseconds: Int64) throws {
    let id = ID128(high: 1, low: 2)
    var header = QuestionHeader(
      id: id, child: PersonID(3), app: AppID("a"), subjects: [1],
      choices: [ChoiceHeader(id: "yes", answer: .approval)], expiration: nil)
    var event = Event(
      seq: 2, previous: 1, audience: .conversation(PersonID(3)), command: id, device: DeviceID(3),
      at: Instant(milliseconds: milliseconds), body: .asked(header, .sealed([1])), signature: nil)
    #expect(throws: Problem.malformed) { try Event.decode(event.encode()) }
    event.at = Instant(milliseconds: 1)
    _ = try Event.decode(event.encode())
    header.expiration = Instant(milliseconds: milliseconds)
    event.body = .asked(header, .sealed([1]))
    #expect(throws: Problem.malformed) { try Event.decode(event.encode()) }
  }
}
