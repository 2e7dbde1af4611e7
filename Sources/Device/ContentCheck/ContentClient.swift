public import FamilyModel
public import Foundation
import ZeroMQ

/// Requests verdicts on pictures from the worker of a folder.
///
/// A client may exist before its worker. The client reads `worker.json` before its first request,
/// and again while the worker does not answer. After a worker's crash the client repeats open
/// requests until their timeout. Blur a picture with the verdict ``ContentVerdict/unknown`` or
/// ``ContentVerdict/sensitive``, and warn the person.
public actor ContentClient: ContentChecker {
  private struct OpenRequest {
    let picture: Avatar
    let deadline: MonotonicInstant
    let continuation: CheckedContinuation<ContentVerdict, Never>
    /// Whether the request was sent on the present connection.
    var isSent = false
  }

  private nonisolated let thread: SocketThread
  /// The socket thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    thread.asUnownedSerialExecutor()
  }
  private let directory: URL
  private let timeout: Nanoseconds
  private let context: Context
  private let keys: CurveKeyPair
  private var connection: WorkerConnection?
  /// Connections in sequence that did not come up.
  private var attempts = 0
  private var message = Multipart(maximumParts: 6)
  private var requests: [UInt64: OpenRequest] = [:]
  private var lastID: UInt64 = 0
  private var hasStarted = false
  private var hasStopped = false

  /// Creates a client of the worker in `directory`. Opens no connection yet.
  ///
  /// - Parameter timeout: The time after which a verdict is `unknown`.
  public init(directory: URL, timeout: Duration = ContentLimits.timeout) throws {
    self.directory = directory
    self.timeout = Nanoseconds(timeout)
    context = try Context()
    keys = try .generate()
    thread = try SocketThread(name: "content")
  }

  deinit {
    thread.stop()
  }

  /// Ends the connection. Open and later requests yield `unknown`.
  public func stop() {
    hasStopped = true
    for id in requests.keys { finish(id, .unknown) }
    connection = nil
    thread.stop()
  }

  /// Requests the worker's verdict. Never fails.
  ///
  /// - Returns: `unknown` after the timeout, after cancellation, for an invalid picture, or while
  ///   ``ContentLimits/clientPictures`` requests are open.
  public func verdict(on picture: Avatar) async -> ContentVerdict {
    guard !hasStopped, requests.count < ContentLimits.clientPictures,
      (try? picture.validate()) != nil
    else { return .unknown }
    start()
    lastID += 1
    let id = lastID
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let deadline = MonotonicInstant.now + timeout
        requests[id] = OpenRequest(picture: picture, deadline: deadline, continuation: continuation)
        if Task.isCancelled { finish(id, .unknown) }
        reopen()
        sendUnsent()
      }
    } onCancel: {
      Task { await self.finish(id, .unknown) }
    }
  }

  private func finish(_ id: UInt64, _ verdict: ContentVerdict) {
    requests.removeValue(forKey: id)?.continuation.resume(returning: verdict)
  }

  private func start() {
    guard !hasStarted else { return }
    hasStarted = true
    thread.onTurn { [weak self] now in self?.assumeIsolated { $0.turn(now) } ?? nil }
  }

  /// Times out late requests and sends the unsent ones; returns the time of the next call.
  private func turn(_ now: MonotonicInstant) -> MonotonicInstant? {
    for (id, request) in requests where request.deadline <= now { finish(id, .unknown) }
    guard let next = requests.values.map(\.deadline).min() else { return nil }
    reopen()
    // libzmq may give up a connection silently, so a client with open requests polls its state.
    if sendUnsent(), connection?.isUp ?? false { return next }
    return min(next, now + ContentLimits.retryAfter)
  }

  /// Connects to the address in `worker.json`, unless the present connection is up or recent.
  private func reopen() {
    let now = MonotonicInstant.now
    guard connection?.isCheckDue(now) ?? true,
      let address = try? WorkerAddress.read(from: directory),
      let key = CurvePublicKey(z85: address.publicKey),
      connection?.recordCheck(of: address, now: now) ?? true
    else { return }
    markAllUnsent()
    connection = try? WorkerConnection(
      to: address, key: key, keys: keys, in: context, attempt: attempts, now: now)
    attempts += 1
    guard let connection else { return }
    thread.watch(connection.socket) { [weak self] in self?.assumeIsolated { $0.drain() } }
    thread.watch(connection.monitorSocket) { [weak self] in
      self?.assumeIsolated { $0.drainMonitor() }
    }
  }

  private func drainMonitor() {
    guard let connection, connection.drainMonitor() else { return }
    attempts = 0
    // The worker's requests are lost with the previous connection.
    markAllUnsent()
    sendUnsent()
  }

  private func markAllUnsent() {
    for id in requests.keys { requests[id]?.isSent = false }
  }

  /// Sends the unsent requests; returns whether none remains.
  @discardableResult
  private func sendUnsent() -> Bool {
    for (id, request) in requests where !request.isSent {
      guard let connection, connection.isUp else { return false }
      let frames = ContentRequest(id: id, picture: request.picture).encode()
      guard (try? connection.socket.send([[]] + frames)) == .sent else { return false }
      requests[id]?.isSent = true
    }
    return true
  }

  private func drain() {
    for _ in 0..<ContentLimits.batch {
      guard let result = try? connection?.socket.receive(into: &message), result != .nothing else {
        return
      }
      let frames = message.allBytes
      guard frames.first == [], let reply = ContentReply(Array(frames.dropFirst())) else {
        continue
      }
      finish(reply.id.reduce(0) { $0 << 8 | UInt64($1) }, reply.verdict)
    }
  }
}
