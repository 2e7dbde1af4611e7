public import FamilyModel

extension ChildMachine {
  /// The memory that the questions of an app, or of all apps, occupy on the device.
  private struct Held {
    var prompts = 0
    var defaultResponses = 0
    var bytes = 0
  }

  /// The limit that one more question of the app would exceed; `nil`: none.
  func exceededLimit(of question: Question, by app: AppID) -> Problem? {
    var own = Held()
    var all = Held()
    func add(_ held: Held, of other: AppID) {
      all.prompts += held.prompts
      all.bytes += held.bytes
      guard other == app else { return }
      own.prompts += held.prompts
      own.defaultResponses += held.defaultResponses
      own.bytes += held.bytes
    }
    for number in flows.keys.sorted() {
      let flow = flows[number]!
      add(Held(prompts: 1, bytes: flow.question.approximateBytes), of: flow.app)
    }
    for feed in feeds {
      for question in feed.defaultResponses {
        add(Held(defaultResponses: 1, bytes: question.approximateBytes), of: feed.app)
      }
    }
    let bytes = question.approximateBytes
    let fits =
      own.prompts < Limits.appPrompts && all.prompts < Limits.devicePrompts
      && own.defaultResponses < Limits.defaultResponses
      && own.bytes + bytes <= Limits.appQuestionBytes
      && all.bytes + bytes <= Limits.deviceQuestionBytes
    return fits ? nil : .appLimit
  }
}

extension AppFeed {
  /// The questions of the default responses that the app has not handled.
  fileprivate var defaultResponses: [Question] {
    entries.compactMap { entry in
      // A guardian's response has evidence.
      guard case .response(let question, _) = entry.body, entry.evidence.isEmpty else { return nil }
      return question
    }
  }
}

/// The request rate of one app on its device. The times are readings of a clock that is never set.
public struct AppAllowance: Hashable, Sendable {
  /// The decision about a request.
  public enum Verdict: Hashable, Sendable {
    /// The device handles the request at once.
    case handle
    /// The device handles the app's newest attachment after this time.
    case handleAttachment(after: Milliseconds)
    /// The device drops the request: an earlier attachment waits, and this one takes its place.
    case replace
  }

  private static let requests = TokenBucket.Size(
    burst: Limits.requestBurst, perSecond: Limits.requestsPerSecond)
  private static let attachments = TokenBucket.Size(
    burst: Limits.attachmentBurst, perSecond: Limits.attachmentsPerSecond)

  private var requests = TokenBucket()
  private var attachments = TokenBucket()
  private var waiting: AppRequest?

  /// An allowance that is not used yet.
  public init() {}

  /// Whether a request of this size is within the limit. A request above it spends nothing.
  public mutating func mayRequest(bytes: Int, now: Instant) -> Bool {
    let cost = 1 + Int64(bytes / Limits.requestUnitBytes)
    guard requests.delay(of: cost, of: Self.requests, now: now) == .zero else { return false }
    requests.spend(cost, of: Self.requests, now: now)
    return true
  }

  /// Decides about a decoded request that ``mayRequest(bytes:now:)`` has permitted.
  ///
  /// - Returns: After `handleAttachment`, the caller calls ``takeAttachment()`` at that time.
  public mutating func decide(_ request: AppRequest, now: Instant) -> Verdict {
    guard case .attach = request else { return .handle }
    guard waiting == nil else {
      waiting = request
      return .replace
    }
    let delay = attachments.spend(1, of: Self.attachments, now: now)
    guard delay > .zero else { return .handle }
    waiting = request
    return .handleAttachment(after: delay)
  }

  /// Returns the attachment that waits, and removes it.
  public mutating func takeAttachment() -> AppRequest? {
    defer { waiting = nil }
    return waiting
  }
}
