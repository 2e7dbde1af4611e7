import ContentCheck
import FamilyModel
import Foundation
import Testing

@Suite struct ProcessTests {
  @Test("S2: without a worker the verdict is unknown, in time; once there is one, it is asked")
  func dead() async throws {
    let folder = try Folder()
    try folder.write(line(picture(1)))
    let client = try ContentClient(directory: folder.url, timeout: .milliseconds(200))
    let start = ContinuousClock.now
    #expect(await client.verdict(on: picture(1)) == .unknown)
    #expect(ContinuousClock.now - start < patience)
    let worker = try WorkerProcess(folder)
    #expect(await eventually { await client.verdict(on: picture(1)) == .sensitive })
    worker.end()
    let second = ContinuousClock.now
    #expect(await client.verdict(on: picture(1)) == .unknown)
    #expect(ContinuousClock.now - second < patience)
    await client.stop()
  }

  @Test("S2: a worker that is killed and started again goes on under its key")
  func restart() async throws {
    let folder = try Folder()
    try folder.write(line(picture(1)))
    var worker = try WorkerProcess(folder)
    let client = try ContentClient(directory: folder.url, timeout: .seconds(60))
    let address = try WorkerAddress.read(from: folder.url)
    for _ in 0..<3 {
      #expect(await client.verdict(on: picture(1)) == .sensitive)
      worker.end()
      // Asked while nobody is there: the next worker answers.
      async let verdict = client.verdict(on: picture(2))
      try await Task.sleep(for: .milliseconds(700))
      worker = try WorkerProcess(folder)
      #expect(await verdict == .clean)
    }
    #expect(try WorkerAddress.read(from: folder.url) == address)
    worker.end()
    await client.stop()
  }

  @Test("S2: what a worker had in work when it was killed is asked again")
  func inWork() async throws {
    let folder = try Folder()
    try folder.write(line(picture(1)))
    var worker = try WorkerProcess(folder)
    let client = try ContentClient(directory: folder.url, timeout: .seconds(60))
    #expect(await client.verdict(on: picture(2)) == .clean)
    worker.signal(SIGSTOP)
    async let verdict = client.verdict(on: picture(1))
    try await Task.sleep(for: .milliseconds(200))
    worker.end()
    worker = try WorkerProcess(folder)
    #expect(await verdict == .sensitive)
    worker.end()
    await client.stop()
  }

  @Test("S2: a picture in work is asked again after a stranger has answered in the worker's place")
  func stranger() async throws {
    let folder = try Folder()
    try folder.write(line(picture(1)))
    var worker = try WorkerProcess(folder)
    let client = try ContentClient(directory: folder.url, timeout: .seconds(60))
    #expect(await client.verdict(on: picture(2)) == .clean)
    let address = try WorkerAddress.read(from: folder.url)
    worker.signal(SIGSTOP)
    async let verdict = client.verdict(on: picture(1))
    try await Task.sleep(for: .milliseconds(200))
    worker.end()
    // libzmq does not connect again to what is no ZeroMQ, and says nothing more.
    let stranger = try Stranger(at: String(address.endpoint.dropFirst("ipc://".count)))
    stranger.answerOnce()
    worker = try WorkerProcess(folder)
    #expect(await verdict == .sensitive)
    worker.end()
    await client.stop()
  }

  @Test("S2: a worker with new keys is found through its file")
  func newKeys() async throws {
    let folder = try Folder()
    try folder.write(line(picture(1)))
    var worker = try WorkerProcess(folder)
    let client = try ContentClient(directory: folder.url, timeout: .seconds(60))
    #expect(await client.verdict(on: picture(1)) == .sensitive)
    worker.end()
    try FileManager.default.removeItem(at: folder.url.appendingPathComponent("worker.key"))
    worker = try WorkerProcess(folder)
    #expect(await client.verdict(on: picture(1)) == .sensitive)
    worker.end()
    await client.stop()
  }

  @Test("S2: SIGTERM ends a worker in order; a second one in the folder is refused")
  func ends() async throws {
    let folder = try Folder()
    try folder.write("")
    let worker = try WorkerProcess(folder)
    #expect(throws: WorkerFiles.Failure.self) { try WorkerFiles(in: folder.url) }
    #expect(worker.end(SIGTERM) == 0)
    _ = try WorkerFiles(in: folder.url)
  }

  @Test("S2: the key is its owner's alone, and a folder or key that others may read is refused")
  func modes() throws {
    let folder = try Folder()
    let key = folder.url.appendingPathComponent("worker.key")
    let first = try WorkerFiles(in: folder.url).keys
    #expect(try WorkerFiles(in: folder.url).keys == first)
    let manager = FileManager.default
    let mode = try manager.attributesOfItem(atPath: key.path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    try manager.setAttributes([.posixPermissions: 0o640], ofItemAtPath: key.path)
    #expect(throws: WorkerFiles.Failure.self) { try WorkerFiles(in: folder.url) }
    try manager.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key.path)
    try manager.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.url.path)
    #expect(throws: WorkerFiles.Failure.self) { try WorkerFiles(in: folder.url) }
  }
}
