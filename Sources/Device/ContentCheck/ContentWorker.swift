import FamilyModel
import ZeroMQ

/// The worker's shell: a ROUTER that answers every message, with a verdict or with a number.
///
/// `made` → (start) `running` → (stop) `stopped`. README.md beside this file is its interface.
public actor ContentWorker {
  /// What a worker has done since its start; it tells nothing about pictures or peers.
  public struct Counters: Sendable, Hashable, CustomStringConvertible {
    /// Pictures that were classified, by verdict.
    public internal(set) var verdicts = [0, 0, 0]
    /// Messages that got a number instead.
    public internal(set) var refused = 0
    /// Replies that nobody could take any more.
    public internal(set) var dropped = 0

    /// For logs.
    public var description: String {
      "clean \(verdicts[0]), sensitive \(verdicts[1]), unknown \(verdicts[2]), "
        + "refused \(refused), dropped \(dropped)"
    }
  }

  private nonisolated let thread: SocketThread
  /// The socket thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    thread.asUnownedSerialExecutor()
  }
  /// What the worker has done.
  public private(set) var counters = Counters()
  private let classifier: any Classifier
  private let files: WorkerFiles
  private let context: Context
  private var zap: ZAPHandler?
  private var router: Socket?
  // Identity, delimiter and four frames: one more shows that there are too many.
  private var message = Multipart(maximumParts: 7)
  private var inWork = 0

  /// A worker that does nothing until it is started.
  public init(_ files: WorkerFiles, classifier: any Classifier) throws {
    self.files = files
    self.classifier = classifier
    context = try Context()
    thread = try SocketThread(name: "content")
  }

  deinit {
    thread.stop()
  }

  /// Binds the socket.
  ///
  /// - Throws: `ZeroMQError` if that is not possible.
  public func start() throws {
    // Any key may ask; the handler sees to it that there is one.
    let zap = try ZAPHandler(in: context)
    thread.watch(zap.socket) { [weak self] in
      self?.assumeIsolated { _ = try? $0.zap?.drain { _ in .acceptKey } }
    }
    self.zap = consume zap
    var options = SocketOptions()
    options.security = .server(files.keys)
    options.zapDomain = "content"
    options.maximumMessageSize = Int64(ContentLimits.frameBytes)
    options.sendHighWaterMark = ContentLimits.sendHighWaterMark
    options.receiveHighWaterMark = ContentLimits.receiveHighWaterMark
    let router = try Socket(.router, in: context, options: options)
    try router.bind(files.address.endpoint)
    thread.watch(router) { [weak self] in self?.assumeIsolated { $0.drain() } }
    self.router = consume router
  }

  /// Closes the socket; what is in work is answered no more.
  public func stop() {
    thread.stop()
  }

  private func drain() {
    for _ in 0..<ContentLimits.batch {
      guard let result = try? router?.receive(into: &message), result != .nothing else { return }
      let frames = message.allBytes
      // Without a delimiter nobody knows what is what: then there is nothing but a refusal.
      let hasDelimiter = frames.count > 1 && frames[1].isEmpty
      take(hasDelimiter ? Array(frames.dropFirst(2)) : [], from: frames[0])
    }
  }

  private func take(_ frames: [[UInt8]], from identity: [UInt8]) {
    do throws(Problem) {
      let request = try ContentRequest(frames)
      guard inWork < ContentLimits.workerPictures else { throw .overloaded }
      inWork += 1
      Task {
        let verdict = await classifier.classify(request.picture)
        inWork -= 1
        counters.verdicts[Int(verdict.rawValue)] += 1
        send(ContentReply(id: request.id, verdict), to: identity)
      }
    } catch {
      counters.refused += 1
      send(ContentReply(id: ContentRequest.id(in: frames), error), to: identity)
    }
  }

  private func send(_ reply: ContentReply, to identity: [UInt8]) {
    if (try? router?.send([identity, []] + reply.encode())) != .sent { counters.dropped += 1 }
  }
}
