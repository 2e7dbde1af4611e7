import ContentCheck
import FamilyModel
import Foundation
import Testing
import ZeroMQ

@Suite struct ProcessTests {
  @Test("S2: times out with unknown without a worker and connects once a worker runs")
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

  @Test("S2: a restarted worker keeps its key and answers open requests")
  func restart() async throws {
    let folder = try Folder()
    try folder.write(line(picture(1)))
    var worker = try WorkerProcess(folder)
    let client = try ContentClient(directory: folder.url, timeout: .seconds(600))
    let address = try WorkerAddress.read(from: folder.url)
    for _ in 0..<3 {
      #expect(await client.verdict(on: picture(1)) == .sensitive)
      worker.end()
      // No worker runs now. The next one answers.
      async let verdict = client.verdict(on: picture(2))
      try await Task.sleep(for: .milliseconds(700))
      worker = try WorkerProcess(folder)
      #expect(await verdict == .clean)
    }
    #expect(try WorkerAddress.read(from: folder.url) == address)
    worker.end()
    await client.stop()
  }

  @Test("S2: repeats a request whose worker was killed")
  func inWork() async throws {
    let folder = try Folder()
    try folder.write(line(picture(1)))
    var worker = try WorkerProcess(folder)
    let client = try ContentClient(directory: folder.url, timeout: .seconds(600))
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

  @Test("S2: repeats a request after another program took the worker's address")
  func stranger() async throws {
    let folder = try Folder()
    try folder.write(line(picture(1)))
    var worker = try WorkerProcess(folder)
    let client = try ContentClient(directory: folder.url, timeout: .seconds(600))
    #expect(await client.verdict(on: picture(2)) == .clean)
    let address = try WorkerAddress.read(from: folder.url)
    worker.signal(SIGSTOP)
    async let verdict = client.verdict(on: picture(1))
    try await Task.sleep(for: .milliseconds(200))
    worker.end()
    // libzmq silently gives up an address where a peer does not speak ZeroMQ.
    let stranger = try Stranger(at: String(address.endpoint.dropFirst("ipc://".count)))
    stranger.answerOnce()
    worker = try WorkerProcess(folder)
    #expect(await verdict == .sensitive)
    worker.end()
    await client.stop()
  }

  @Test("S2: gives each connection to a slow worker more time than the previous one")
  func slowHandshake() async throws {
    let folder = try Folder()
    let path = folder.url.appendingPathComponent("slow.ipc").path
    let address = WorkerAddress(
      endpoint: "ipc://" + path, publicKey: try CurveKeyPair.generate().publicKey)
    try JSONEncoder().encode(address).write(to: WorkerAddress.file(in: folder.url))
    let worker = try Stranger(at: path)
    let client = try ContentClient(directory: folder.url, timeout: .seconds(5))
    async let verdict = client.verdict(on: picture(1))
    // Connections at 0, 0.5, 1.5 and 3.5 s; without growing times there are ten.
    let peers = await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(returning: worker.acceptSilently(for: .milliseconds(4_500)))
      }
    }
    #expect((1...4).contains(peers))
    #expect(await verdict == .unknown)
    await client.stop()
  }

  @Test("S2: finds a worker with new keys through worker.json")
  func newKeys() async throws {
    let folder = try Folder()
    try folder.write(line(picture(1)))
    var worker = try WorkerProcess(folder)
    let client = try ContentClient(directory: folder.url, timeout: .seconds(600))
    #expect(await client.verdict(on: picture(1)) == .sensitive)
    worker.end()
    try FileManager.default.removeItem(at: folder.url.appendingPathComponent("worker.key"))
    worker = try WorkerProcess(folder)
    #expect(await client.verdict(on: picture(1)) == .sensitive)
    worker.end()
    await client.stop()
  }

  @Test("S2: exits with 0 after SIGTERM; rejects a second worker in the folder")
  func ends() async throws {
    let folder = try Folder()
    try folder.write("")
    let worker = try WorkerProcess(folder)
    #expect(throws: WorkerFiles.Failure.self) { try WorkerFiles(in: folder.url) }
    #expect(worker.end(SIGTERM) == 0)
    _ = try WorkerFiles(in: folder.url)
  }

  @Test("S2: creates the key with mode 0600 and rejects a readable folder or key")
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
