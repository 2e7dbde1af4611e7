import FamilyModel
import RelayFixture
import RelayServer
import RelayStore
import Synchronization
import Testing

@Suite(.serialized, .timeLimit(.minutes(5))) struct FullDiskTests {
  /// The free bytes of the disk, and the commits to it.
  private final class Disk: Sendable {
    let free = Mutex(1 << 40)
    let commits = Mutex(0)
  }

  @Test("O3: a full disk refuses commands with a retry time, serves reads, and needs no restart")
  func fullDisk() async throws {
    let disk = Disk()
    let fixture = try await RelayFixture(
      wrap: { store in
        WatchedStore(store) { _ in
          disk.commits.withLock { $0 += 1 }
          return nil
        }
      }, adjust: { $0.pipeline.freeBytes = { disk.free.withLock { $0 } } })
    let pairs = try fixture.createFamily(1)
    let child = try fixture.peer(1, 30, pairs[30])
    let guardian = try fixture.peer(1, 10, pairs[10])
    let first = CommandID.next
    #expect(try child.post("before", id: first) == .accepted(first, seq: 2))

    disk.free.withLock { $0 = 1 << 20 }
    try await wait { try child.isRefused() }
    let commits = disk.commits.withLock { $0 }
    for _ in 1...20 {
      #expect(try child.isRefused())
      #expect(try guardian.isRefused())
      #expect(try child.texts().first == "before")
      try guardian.attach([Cursor(.family, delivered: 1)])
      try guardian.send(.acknowledge([Cursor(.conversation(PersonID(3)), delivered: 2)]))
    }
    // Nothing is written, not even the cursors that are due.
    #expect(disk.commits.withLock { $0 } == commits)

    disk.free.withLock { $0 = 1 << 40 }
    try await wait { try !child.isRefused() }
    let last = CommandID.next
    guard case .accepted(last, _) = try child.post("after", id: last) else {
      Issue.record("the command was refused")
      return
    }
    disk.free.withLock { $0 = 0 }
    try await wait { try child.isRefused() }
    // A stop does not wait for a disk that takes no cursors.
    try await fixture.stop()
  }

  private func wait(_ body: () throws -> Bool) async throws {
    while try !body() { try await Task.sleep(for: .milliseconds(100)) }
  }
}

extension Peer {
  /// Whether a text is refused with problem 501 and a retry time.
  fileprivate func isRefused() throws -> Bool {
    let id = CommandID.next
    guard case .refused(id, let problem) = try post("during", id: id) else { return false }
    #expect(problem.code == Problem.storeFailed.code && problem.retryAfter > .zero)
    return true
  }
}
