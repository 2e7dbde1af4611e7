import ContentCheck
import FamilyModel
import Foundation
import Testing
import ZeroMQ

/// A classifier that suspends every verdict until `answer()`, and none afterwards.
private actor SlowClassifier: Classifier {
  private var waiting: [CheckedContinuation<ContentVerdict, Never>] = []
  private var isOpen = false
  var count: Int { waiting.count }

  func classify(_ picture: Avatar) async -> ContentVerdict {
    isOpen ? .clean : await withCheckedContinuation { waiting.append($0) }
  }

  func answer() {
    isOpen = true
    for one in waiting { one.resume(returning: .clean) }
    waiting = []
  }
}

@Suite struct ContentCheckTests {
  @Test("S2: flags exactly the pictures on the hash list")
  func verdicts() async throws {
    let fixture = try await ContentCheckFixture(
      list: "# flagged\n\n" + line(picture(1)).uppercased())
    #expect(await fixture.client.verdict(on: picture(2)) == .clean)
    #expect(await fixture.client.verdict(on: picture(1)) == .sensitive)
    #expect(await fixture.client.verdict(on: picture(3, bytes: Limits.avatarBytes)) == .clean)
    #expect(await fixture.worker.counters.verdicts == [2, 1, 0])
    await fixture.stop()
  }

  @Test("S2: matches concurrent verdicts to their pictures")
  func many() async throws {
    let flagged = (0..<32).map { picture($0) }
    let fixture = try await ContentCheckFixture(list: flagged.map(line).joined())
    await withTaskGroup { group in
      for number in UInt8(0)..<64 {
        group.addTask {
          let verdict = await fixture.client.verdict(on: picture(number))
          #expect(verdict == (number < 32 ? .sensitive : .clean))
        }
      }
    }
    await fixture.stop()
  }

  @Test("S2: rereads the hash list after a change")
  func changes() async throws {
    let fixture = try await ContentCheckFixture()
    for number in UInt8(0)..<20 {
      #expect(await fixture.client.verdict(on: picture(number)) == .clean)
      try fixture.folder.write(line(picture(number)))
      #expect(await fixture.client.verdict(on: picture(number)) == .sensitive)
    }
    await fixture.stop()
  }

  @Test("S2: keeps the last good list while the file is unreadable; other verdicts are unknown")
  func brokenList() async throws {
    let fixture = try await ContentCheckFixture(list: line(picture(1)))
    for broken in ["half a li", line(picture(2)) + "zz\n"] {
      try fixture.folder.write(broken)
      #expect(await fixture.client.verdict(on: picture(1)) == .sensitive)
      #expect(await fixture.client.verdict(on: picture(2)) == .unknown)
    }
    try FileManager.default.removeItem(at: fixture.folder.list)
    #expect(await fixture.client.verdict(on: picture(2)) == .unknown)
    try fixture.folder.write(line(picture(2)))
    #expect(await fixture.client.verdict(on: picture(1)) == .clean)
    #expect(await fixture.client.verdict(on: picture(2)) == .sensitive)
    await fixture.stop()
  }

  @Test("S2: rejects a malformed hash list and names the line")
  func refusesList() throws {
    let folder = try Folder()
    #expect(throws: HashList.Failure.self) { try HashList(folder.list) }
    try folder.write("# fine\n" + line(picture(1)) + "oops\n")
    let failure = #expect(throws: HashList.Failure.self) { try HashList(folder.list) }
    #expect(failure?.description.contains("line 3") == true)
  }

  @Test("S2: sends no invalid picture; its verdict is unknown")
  func invalid() async throws {
    let fixture = try await ContentCheckFixture()
    for bytes in [[], [1, 2, 3], picture(1, bytes: Limits.avatarBytes + 1).bytes] {
      let avatar = Avatar(mediaType: "image/png", bytes: bytes)
      #expect(await fixture.client.verdict(on: avatar) == .unknown)
    }
    #expect(await fixture.worker.counters.refused == 0)
    await fixture.stop()
  }

  @Test("S2: times out a slow worker with unknown and ignores its late replies")
  func slow() async throws {
    let slow = SlowClassifier()
    let fixture = try await ContentCheckFixture(classifier: slow, timeout: .milliseconds(500))
    let start = ContinuousClock.now
    #expect(await fixture.client.verdict(on: picture(1)) == .unknown)
    let took = ContinuousClock.now - start
    #expect(took >= .milliseconds(500) && took < patience)
    await slow.answer()
    #expect(await eventually { await fixture.client.verdict(on: picture(2)) == .clean })
    await fixture.stop()
  }

  @Test("S2: rejects requests above the limits of the worker and of the client")
  func overloaded() async throws {
    let slow = SlowClassifier()
    let fixture = try await ContentCheckFixture(classifier: slow)
    let asked = (0..<ContentLimits.clientPictures).map { number in
      Task { await fixture.client.verdict(on: picture(UInt8(number))) }
    }
    while await slow.count < ContentLimits.workerPictures {
      try await Task.sleep(for: .milliseconds(1))
    }
    #expect(await fixture.client.verdict(on: picture(200)) == .unknown)
    let other = try ContentClient(directory: fixture.folder.url, timeout: .seconds(600))
    #expect(await other.verdict(on: picture(201)) == .unknown)
    #expect(await fixture.worker.counters.refused == 1)
    await slow.answer()
    for task in asked { #expect(await task.value == .clean) }
    await other.stop()
    await fixture.stop()
  }

  @Test("S2: resumes a request when its task is cancelled or the client stops")
  func cancelled() async throws {
    let slow = SlowClassifier()
    let fixture = try await ContentCheckFixture(classifier: slow)
    let first = Task { await fixture.client.verdict(on: picture(1)) }
    while await slow.count == 0 { try await Task.sleep(for: .milliseconds(1)) }
    first.cancel()
    #expect(await first.value == .unknown)
    let second = Task { await fixture.client.verdict(on: picture(2)) }
    while await slow.count < 2 { try await Task.sleep(for: .milliseconds(1)) }
    await fixture.client.stop()
    #expect(await second.value == .unknown)
    #expect(await fixture.client.verdict(on: picture(3)) == .unknown)
    await slow.answer()
    await fixture.stop()
  }
}
