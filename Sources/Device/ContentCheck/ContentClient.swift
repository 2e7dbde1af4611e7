public import FamilyModel
public import Foundation
import ZeroMQ

/// Asks the worker of a folder about pictures.
///
/// It may be made before the worker: it reads `worker.json` when it needs to, and again when the
/// worker does not answer. A question that a killed worker left open is asked again when it is
/// back, until the time is over. Who shows a picture must treat ``ContentVerdict/unknown`` like
/// ``ContentVerdict/sensitive``: first blurred, with a warning.
public actor ContentClient: ContentChecker {
  private struct Question {
    let picture: Avatar
    let deadline: UInt64
    let continuation: CheckedContinuation<ContentVerdict, Never>
    /// Whether the present connection has taken it.
    var isSent = false
  }

  private nonisolated let thread: SocketThread
  /// The socket thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    thread.asUnownedSerialExecutor()
  }
  private let directory: URL
  private let timeout: UInt64
  private let context: Context
  private let keys: CurveKeyPair
  private var connection: WorkerConnection?
  private var message = Multipart(maximumParts: 6)
  private var questions: [UInt64: Question] = [:]
  private var lastID: UInt64 = 0
  private var hasStarted = false
  private var hasStopped = false

  /// A client of the worker in `directory`.
  ///
  /// - Parameter timeout: After how long a verdict is `unknown`.
  public init(directory: URL, timeout: Duration = ContentLimits.timeout) throws {
    self.directory = directory
    self.timeout = UInt64(min(max(timeout / .nanoseconds(1), 0), 1e18))
    context = try Context()
    keys = try .generate()
    thread = try SocketThread(name: "content")
  }

  deinit {
    thread.stop()
  }

  /// Ends the connection. Open questions, and later ones, are `unknown`.
  public func stop() {
    hasStopped = true
    for id in questions.keys { finish(id, .unknown) }
    connection = nil
    thread.stop()
  }

  /// The worker's verdict; `unknown` when the time is over, the task is cancelled, the picture is
  /// not one that is taken, or ``ContentLimits/clientPictures`` wait already.
  public func verdict(on picture: Avatar) async -> ContentVerdict {
    guard !hasStopped, questions.count < ContentLimits.clientPictures,
      (try? picture.validate()) != nil
    else { return .unknown }
    start()
    lastID += 1
    let id = lastID
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let deadline = Monotonic.now() + timeout
        questions[id] = Question(picture: picture, deadline: deadline, continuation: continuation)
        if Task.isCancelled { finish(id, .unknown) }
        reopen()
        sendWaiting()
      }
    } onCancel: {
      Task { await self.finish(id, .unknown) }
    }
  }

  private func finish(_ id: UInt64, _ verdict: ContentVerdict) {
    questions.removeValue(forKey: id)?.continuation.resume(returning: verdict)
  }

  private func start() {
    guard !hasStarted else { return }
    hasStarted = true
    thread.onTurn { [weak self] now in self?.assumeIsolated { $0.turn(now) } ?? nil }
  }

  /// Ends what is late, sends what could not be sent, and tells when to be called again.
  private func turn(_ now: UInt64) -> UInt64? {
    for (id, question) in questions where question.deadline <= now { finish(id, .unknown) }
    guard let next = questions.values.map(\.deadline).min() else { return nil }
    reopen()
    // libzmq may give up a connection, and is silent then: who waits for an answer has to look.
    if sendWaiting(), connection?.isUp ?? false { return next }
    return min(next, now + ContentLimits.retryAfter)
  }

  /// Connects where the worker is now, unless there is, or may soon be, a connection.
  private func reopen() {
    let now = Monotonic.now()
    if let connection {
      guard connection.isLost(now) else { return }
    }
    guard let address = try? WorkerAddress.read(from: directory),
      let key = CurvePublicKey(z85: address.publicKey)
    else { return }
    forgetSent()
    connection = try? WorkerConnection(
      to: address.endpoint, key: key, keys: keys, in: context, now: now)
    guard let connection else { return }
    thread.watch(connection.socket) { [weak self] in self?.assumeIsolated { $0.drain() } }
    thread.watch(connection.monitorSocket) { [weak self] in self?.assumeIsolated { $0.look() } }
  }

  private func look() {
    guard let connection, connection.look() else { return }
    // Another connection: what the worker had is lost with the last one.
    forgetSent()
    sendWaiting()
  }

  private func forgetSent() {
    for id in questions.keys { questions[id]?.isSent = false }
  }

  /// Sends what waits; returns whether nothing waits any more.
  @discardableResult
  private func sendWaiting() -> Bool {
    for (id, question) in questions where !question.isSent {
      guard let connection, connection.isUp else { return false }
      let frames = ContentRequest(id: id, picture: question.picture).encode()
      guard (try? connection.socket.send([[]] + frames)) == .sent else { return false }
      questions[id]?.isSent = true
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
