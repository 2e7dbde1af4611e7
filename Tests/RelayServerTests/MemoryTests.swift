import FamilyModel
import RelayFixture
import RelayServer
import Synchronization
import Testing
import ZeroMQ

@Suite(.serialized, .timeLimit(.minutes(5))) struct MemoryTests {
  private final class Memory: Sendable { let inUse = Mutex(0) }

  @Test("O4: short of memory, the relay refuses attachments and pages, and accepts commands")
  func short() async throws {
    let memory = Memory()
    let fixture = try await RelayFixture(adjust: {
      $0.pipeline.memoryLimit = 1_600
      $0.pipeline.memoryInUse = { memory.inUse.withLock { $0 } }
    })
    let pairs = try fixture.createFamily(1)
    let child = try fixture.peer(1, 30, pairs[30])
    let guardian = try fixture.peer(1, 10, pairs[10])
    try guardian.attach()
    #expect(try child.post("before") != nil)

    memory.inUse.withLock { $0 = 1_400 }
    #expect(try await poll { try child.isRefused(.attach([])) })
    #expect(try guardian.isRefused(.fetch(.family, after: 0)))
    #expect(try guardian.ask(.ping) != nil)
    let id = CommandID.next
    guard case .accepted(id, _) = try child.post("during", id: id) else {
      Issue.record("a command was refused")
      return
    }
    let isShown = try await poll {
      let statistics = fixture.service.meter.statistics()
      return statistics.counters["refusedForMemory"] ?? 0 > 0 && statistics.levels.memoryLevel == 2
    }
    #expect(isShown)

    memory.inUse.withLock { $0 = 100 }
    #expect(try await poll { try !child.isRefused(.attach([])) })
    #expect(try child.texts() == ["before", "during"])
    try await fixture.stop()
  }

  @Test("the resident memory and the limit of this process are known")
  func facts() {
    #expect(ProcessMemory.resident > 1 << 20)
    #expect(ProcessMemory.available > ProcessMemory.resident / 2)
  }
}

extension Peer {
  /// Whether the request is refused as overloaded, with a retry time.
  fileprivate func isRefused(_ request: Request) throws -> Bool {
    guard case .failed(let problem) = try ask(request) else { return false }
    #expect(problem.code == Problem.overloaded.code && problem.retryAfter > .zero)
    return true
  }
}
