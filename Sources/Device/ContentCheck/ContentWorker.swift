import FamilyModel
import ZeroMQ

/// The worker's shell: a ROUTER that answers every message with a verdict or a problem's number.
///
/// `created` → (start) `running` → (stop) `stopped`. README.md beside this file specifies the
/// interface.
public actor ContentWorker {
  /// Counts since the worker's start, without data about pictures or peers.
  public struct Counters: Sendable, Hashable, CustomStringConvertible {
    /// Classified pictures, indexed by the raw value of the verdict.
    public internal(set) var verdicts = [0, 0, 0]
    /// Rejected messages.
    public internal(set) var refused = 0
    /// Replies dropped because the peer was full or gone.
    public internal(set) var dropped = 0

    /// The counts in one line, for logs.
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
  /// The counts since the worker's start.
  public private(set) var counters = Counters()
  private let classifier: any Classifier
  private let files: WorkerFiles
  private let context: Context
  private var zap: ZAPHandler?
  private var router: Socket?
  // Identity, delimiter and four frames. The seventh part reveals a message with too many.
  private var message = Multipart(maximumParts: 7)
  private var runningClassifications = 0

  /// Creates a worker that is not yet bound.
  public init(_ files: WorkerFiles, classifier: any Classifier) throws {
    self.files = files
    self.classifier = classifier
    context = try Context()
    thread = try SocketThread(name: "content")
  }

  deinit {
    thread.stop()
  }

  /// Binds the socket and serves requests.
  ///
  /// - Throws: `ZeroMQError` if the socket cannot be bound.
  public func start() throws {
    // The handler accepts every key. The mode of the worker's folder is the access control.
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

  /// Closes the socket. Running classifications are not answered.
  public func stop() {
    thread.stop()
  }

  private func drain() {
    for _ in 0..<ContentLimits.batch {
      guard let result = try? router?.receive(into: &message), result != .nothing else { return }
      let frames = message.allBytes
      // Without a delimiter the frames have no meaning, and the message is rejected as malformed.
      let hasDelimiter = frames.count > 1 && frames[1].isEmpty
      receive(hasDelimiter ? Array(frames.dropFirst(2)) : [], from: frames[0])
    }
  }

  private func receive(_ frames: [[UInt8]], from identity: [UInt8]) {
    do throws(Problem) {
      let request = try ContentRequest(frames)
      guard runningClassifications < ContentLimits.workerPictures else { throw .overloaded }
      runningClassifications += 1
      Task {
        let verdict = await classifier.classify(request.picture)
        runningClassifications -= 1
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
