import FamilyModel
import Foundation
import Logging
import RelayFixture
import RelayStore
import RelayWire
import SQLiteStore
import Testing
import ZeroMQ

@testable import RelayPipeline
@testable import RelayServer

/// Retention in the store of a running relay.
@Suite(.serialized, .timeLimit(.minutes(10))) struct RetentionTests {
  /// The sealed bytes of a text, which are found in a file.
  private static let text = "the words of a text that is erased"

  private func pass(_ fixture: RelayFixture, endedBy end: Instant, first: Int = .max) throws -> Int
  {
    var pass = RetentionPass(fixture.service.copier, endedBy: end, first: first)
    while try !pass.advance() {}
    return pass.erased
  }

  private func events(_ fixture: RelayFixture) throws -> [StoredEvent] {
    try fixture.service.copier.log(after: 0, limit: .max, bytes: .max).records.compactMap {
      if case .event(let event) = $0 { event } else { nil }
    }
  }

  @Test("O6: a running relay erases texts after their time, once, and continues")
  func texts() async throws {
    let fixture = try await RelayFixture()
    let pairs = try fixture.createFamily(1)
    let child = try fixture.peer(1, 30, pairs[30])
    for _ in 1...150 { _ = try child.post(Self.text) }
    let before = try events(fixture)
    #expect(try pass(fixture, endedBy: .now - .hours(1)) == 0)
    #expect(try pass(fixture, endedBy: .now + .hours(1), first: before.count - 1) == 149)
    #expect(try pass(fixture, endedBy: .now + .hours(1), first: before.count - 1) == 0)
    let after = try events(fixture)
    #expect(after.count == before.count && after.last == before.last)
    for (old, new) in zip(before, after) {
      let (old, new) = (try Event.decode(old.payload), try Event.decode(new.payload))
      #expect(old.hash == new.hash && old.signature == new.signature && old.seq == new.seq)
    }
    #expect(after.count { (try? Event.decode($0.payload))?.body.content?.isErased ?? false } == 149)
    // The relay continues on the store, and a later device reads the whole conversation.
    _ = try child.post(Self.text)
    let result = try fixture.service.copier.verify(after: 0, limit: .max)
    #expect(result.damage.isEmpty && result.events == before.count + 1)
    try await fixture.stop()
  }

  @Test("O2, O6: a pass that meets damage erases no question, because its approval may be damaged")
  func damaged() async throws {
    var fixture = try await RelayFixture()
    let pairs = try fixture.createFamily(1)
    let child = try fixture.peer(1, 30, pairs[30])
    let header = QuestionHeader(
      id: QuestionID(high: 5, low: 1), child: PersonID(3), app: AppID("example.landmarks"),
      subjects: [], choices: [ChoiceHeader(id: "approve", answer: .approval)],
      expiration: .now + .seconds(1_000))
    _ = try child.ask(.command(.next, .ask(header, .sealed([1])), nil))
    let answer = CommandID.next
    let reply = try fixture.peer(1, 10, pairs[10])
      .ask(.command(answer, .answer(header.id, choice: "approve"), nil))
    #expect(reply == .accepted(answer, seq: 3))
    for _ in 1...2 { _ = try child.post(Self.text) }
    try await fixture.stop()
    let file = fixture.folder.appendingPathComponent("relay.sqlite")
    let sound = try Data(contentsOf: file)
    for isDamaged in [true, false] {
      var bytes = sound
      // The column with the command.
      let place = try #require(bytes.range(of: Data(answer.bytes)))
      if isDamaged { bytes[place.lowerBound] ^= 1 }
      try bytes.write(to: file)
      fixture = try await RelayFixture(in: fixture.folder)
      // Both texts are erased, and the question is not.
      #expect(try pass(fixture, endedBy: .now + .hours(1)) == 2)
      try await fixture.stop()
    }
  }

  @Test("O6: the sweep spares events that are newer than its last pass, and rests for a day")
  func sweep() async throws {
    let fixture = try await RelayFixture()
    let pairs = try fixture.createFamily(1)
    let child = try fixture.peer(1, 30, pairs[30])
    for _ in 1...3 { _ = try child.post(Self.text) }
    var sweep = RetentionSweep(fixture.service.copier, keeping: .zero, Logger(label: "test"))
    sweep.advance(at: .now + .days(1))
    #expect(sweep.erased == 0 && sweep.due > .now + .seconds(3_000), "an hour without a pass")
    for _ in 1...2 { _ = try child.post(Self.text) }
    for expected in [3, 5] {
      sweep.due = .now
      repeat {
        try await Task.sleep(for: .milliseconds(10))
        sweep.advance(at: .now + .days(1))
      } while sweep.due < .now + .seconds(3_600)
      #expect(sweep.erased == expected)
      _ = try child.post(Self.text)
    }
    try await fixture.stop()
  }
}

extension Content {
  fileprivate var isErased: Bool { if case .erased = self { true } else { false } }
}
