import FamilyModel
import Logging
import RelayFixture
import RelayStore
import Testing
import ZeroMQ

@testable import RelayServer

@Suite(.serialized, .timeLimit(.minutes(10))) struct ScrubTests {
  @Test("O2: the scrub of a running relay verifies each event, and then rests for a day")
  func pass() async throws {
    let fixture = try await RelayFixture()
    let pairs = try fixture.createFamily(1)
    let child = try fixture.peer(1, 30, pairs[30])
    for _ in 1...100 { _ = try child.post("text") }
    let events = Int(await fixture.service.counters.events)
    var scrub = StoreScrub(fixture.service.copier, Logger(label: "test"))
    while scrub.due < .now + .seconds(60) {
      try await Task.sleep(for: .milliseconds(20))
      scrub.advance()
    }
    #expect(scrub.events == events && scrub.damage == 0)
    try await fixture.stop()
    // The store is closed. A scrub under way ends without harm.
    #expect(throws: StoreError.self) { try fixture.service.copier.verify(after: 0, limit: 1) }
  }
}
