import ContentCheck
import FamilyModel
import Foundation
import Testing
import ZeroMQ

/// Answers when it is told to, and from then on at once.
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
  @Test("S2: a picture that is not on the list is clean, one that is on it is sensitive")
  func verdicts() async throws {
    let rig = try await ContentCheckFixture(list: "# flagged\n\n" + line(picture(1)).uppercased())
    #expect(await rig.client.verdict(on: picture(2)) == .clean)
    #expect(await rig.client.verdict(on: picture(1)) == .sensitive)
    #expect(await rig.client.verdict(on: picture(3, bytes: Limits.avatarBytes)) == .clean)
    #expect(await rig.worker.counters.verdicts == [2, 1, 0])
    await rig.stop()
  }

  @Test("S2: many pictures at a time each get their own verdict")
  func many() async throws {
    let flagged = (0..<32).map { picture($0) }
    let rig = try await ContentCheckFixture(list: flagged.map(line).joined())
    await withTaskGroup { group in
      for number in UInt8(0)..<64 {
        group.addTask {
          let verdict = await rig.client.verdict(on: picture(number))
          #expect(verdict == (number < 32 ? .sensitive : .clean))
        }
      }
    }
    await rig.stop()
  }

  @Test("S2: the list is read again when it changes while the worker runs")
  func changes() async throws {
    let rig = try await ContentCheckFixture()
    for number in UInt8(0)..<20 {
      #expect(await rig.client.verdict(on: picture(number)) == .clean)
      try rig.folder.write(line(picture(number)))
      #expect(await rig.client.verdict(on: picture(number)) == .sensitive)
    }
    await rig.stop()
  }

  @Test("S2: while the list cannot be read, what was flagged stays so, and the rest is unknown")
  func brokenList() async throws {
    let rig = try await ContentCheckFixture(list: line(picture(1)))
    for broken in ["half a li", line(picture(2)) + "zz\n"] {
      try rig.folder.write(broken)
      #expect(await rig.client.verdict(on: picture(1)) == .sensitive)
      #expect(await rig.client.verdict(on: picture(2)) == .unknown)
    }
    try FileManager.default.removeItem(at: rig.folder.list)
    #expect(await rig.client.verdict(on: picture(2)) == .unknown)
    try rig.folder.write(line(picture(2)))
    #expect(await rig.client.verdict(on: picture(1)) == .clean)
    #expect(await rig.client.verdict(on: picture(2)) == .sensitive)
    await rig.stop()
  }

  @Test("S2: a list that is not a list is refused with its line")
  func refusesList() throws {
    let folder = try Folder()
    #expect(throws: HashList.Failure.self) { try HashList(folder.list) }
    try folder.write("# fine\n" + line(picture(1)) + "oops\n")
    let failure = #expect(throws: HashList.Failure.self) { try HashList(folder.list) }
    #expect(failure?.description.contains("line 3") == true)
  }

  @Test("S2: a picture that must not be sent is not sent, and unknown")
  func invalid() async throws {
    let rig = try await ContentCheckFixture()
    for bytes in [[], [1, 2, 3], picture(1, bytes: Limits.avatarBytes + 1).bytes] {
      let avatar = Avatar(mediaType: "image/png", bytes: bytes)
      #expect(await rig.client.verdict(on: avatar) == .unknown)
    }
    #expect(await rig.worker.counters.refused == 0)
    await rig.stop()
  }

  @Test("S2: a slow worker gives unknown when the time is over, and its late answers harm nobody")
  func slow() async throws {
    let slow = SlowClassifier()
    let rig = try await ContentCheckFixture(classifier: slow, timeout: .milliseconds(500))
    let start = ContinuousClock.now
    #expect(await rig.client.verdict(on: picture(1)) == .unknown)
    let took = ContinuousClock.now - start
    #expect(took >= .milliseconds(500) && took < patience)
    await slow.answer()
    #expect(await eventually { await rig.client.verdict(on: picture(2)) == .clean })
    await rig.stop()
  }

  @Test("S2: with more in work than it takes, the worker refuses; the client asks no more either")
  func overloaded() async throws {
    let slow = SlowClassifier()
    let rig = try await ContentCheckFixture(classifier: slow)
    let asked = (0..<ContentLimits.clientPictures).map { number in
      Task { await rig.client.verdict(on: picture(UInt8(number))) }
    }
    while await slow.count < ContentLimits.workerPictures {
      try await Task.sleep(for: .milliseconds(1))
    }
    #expect(await rig.client.verdict(on: picture(200)) == .unknown)
    let other = try ContentClient(directory: rig.folder.url, timeout: .seconds(60))
    #expect(await other.verdict(on: picture(201)) == .unknown)
    #expect(await rig.worker.counters.refused == 1)
    await slow.answer()
    for task in asked { #expect(await task.value == .clean) }
    await other.stop()
    await rig.stop()
  }

  @Test("S2: who is cancelled, or stops the client, waits no longer")
  func cancelled() async throws {
    let slow = SlowClassifier()
    let rig = try await ContentCheckFixture(classifier: slow)
    let first = Task { await rig.client.verdict(on: picture(1)) }
    while await slow.count == 0 { try await Task.sleep(for: .milliseconds(1)) }
    first.cancel()
    #expect(await first.value == .unknown)
    let second = Task { await rig.client.verdict(on: picture(2)) }
    while await slow.count < 2 { try await Task.sleep(for: .milliseconds(1)) }
    await rig.client.stop()
    #expect(await second.value == .unknown)
    #expect(await rig.client.verdict(on: picture(3)) == .unknown)
    await slow.answer()
    await rig.stop()
  }
}
