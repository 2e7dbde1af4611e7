import DeviceTurn
import FamilyModel
import ZeroMQ

/// The children's devices: they ask, back off under overload, and acknowledge decisions.
struct Children {
  private struct Question {
    let family: UInt64
    /// When the child asked.
    let askedAt: MonotonicInstant
    var attempts = 0
    /// Sent and neither refused nor decided.
    var isInFlight = false
  }

  /// The width of a retry bucket.
  private static let bucket = Nanoseconds.milliseconds(10)

  private let families: UInt64
  private let commands = NumberedIDs()
  private let questions = NumberedIDs()
  private var asked: UInt64 = 0
  /// The window that agents use; `nil` sends every question at once and retries refused ones.
  private var questionWindow: QuestionWindow<UInt64>?
  /// Undecided questions by number.
  private var open: [UInt64: Question] = [:]
  private var retries: [UInt64: [UInt64]] = [:]
  private var lastRetryBucket: UInt64 = 0
  /// The app's known handles: one bit for each of the newest questions.
  private var known = [UInt64](repeating: 0, count: 1 << 14)
  private var credit: Double = 0
  private var lastTurn = MonotonicInstant.machineStart
  private var random = SystemRandomNumberGenerator()
  /// Whether the socket rejected a question in this turn. The rest of the turn sends no more
  /// questions.
  private var isShedding = false
  /// Questions asked before this moment are not measured.
  private var since = MonotonicInstant.machineStart
  private var result = ApprovalLoad.Sample()

  init(families: UInt64, usesQuestionWindow: Bool) {
    self.families = families
    questionWindow = usesQuestionWindow ? QuestionWindow() : nil
  }

  mutating func takeSample() -> ApprovalLoad.Sample {
    defer { result = ApprovalLoad.Sample() }
    return result
  }

  mutating func ask(_ devices: inout Devices, window: Int, rate: Double, since: MonotonicInstant)
    throws
  {
    if window > 0, rate == 0, self.since != since { dropOpenQuestions() }
    self.since = since
    isShedding = false
    let now = MonotonicInstant.now
    if rate > 0 {
      // Bound the catch-up to 0.1 s of questions.
      credit += rate * min(0.1, (now - lastTurn).seconds)
      lastTurn = now
      while credit >= 1 {
        credit -= 1
        try ask(&devices, now)
      }
    } else {
      lastTurn = now
      while open.count < window { try ask(&devices, now) }
    }
    try retry(&devices, now)
  }

  /// Drops the questions of a previous overload, so that only the window's questions are measured.
  private mutating func dropOpenQuestions() {
    (open, retries) = ([:], [:])
    if questionWindow != nil { questionWindow = QuestionWindow() }
  }

  private mutating func ask(_ devices: inout Devices, _ now: MonotonicInstant) throws {
    asked += 1
    open[asked] = Question(family: asked % families + 1, askedAt: now)
    result.asked += 1
    try send(asked, &devices)
  }

  private mutating func send(_ number: UInt64, _ devices: inout Devices) throws {
    guard let askedAt = open[number]?.askedAt else { return }
    guard questionWindow != nil else { return try transmit(number, &devices) }
    if questionWindow!.enqueue(commands.id(number, at: askedAt), number) {
      try sendAdmitted(&devices)
    } else {
      result.unsent += 1
      scheduleRetry(number, after: .seconds(1))
    }
  }

  private mutating func sendAdmitted(_ devices: inout Devices) throws {
    while let (command, number) = questionWindow?.admit(now: MonotonicInstant.now) {
      _ = questionWindow!.maySend(command, now: MonotonicInstant.now)
      try transmit(number, &devices)
    }
  }

  private mutating func transmit(_ number: UInt64, _ devices: inout Devices) throws {
    guard let question = open[number] else { return }
    let command = commands.id(number, at: question.askedAt)
    if !isShedding {
      isShedding = try !devices.send(
        .ask,
        .init(
          family: question.family, command: command,
          question: questions.id(number, at: .machineStart)))
    }
    guard isShedding else {
      open[number]!.isInFlight = true
      return
    }
    result.unsent += 1
    scheduleRetry(number, after: .seconds(1))
  }

  /// Schedules a retry with the agents' backoff: exponential from the relay's retry time, with
  /// random jitter of up to the same time.
  private mutating func scheduleRetry(_ number: UInt64, after retryAfter: Milliseconds) {
    guard let attempts = open[number]?.attempts else { return }
    open[number]!.attempts = attempts + 1
    open[number]!.isInFlight = false
    let first = max(.seconds(1), retryAfter) * (1 << min(attempts, 5))
    let wait = Nanoseconds.microseconds(min(first, .seconds(30)).count)
    let due = MonotonicInstant.now + wait * Int.random(in: 1_000...2_000, using: &random)
    retries[due.uptime / Self.bucket, default: []].append(number)
  }

  private mutating func retry(_ devices: inout Devices, _ now: MonotonicInstant) throws {
    if lastRetryBucket == 0 { lastRetryBucket = now.uptime / Self.bucket }
    while lastRetryBucket < now.uptime / Self.bucket {
      for number in retries.removeValue(forKey: lastRetryBucket) ?? [] {
        try send(number, &devices)
      }
      lastRetryBucket += 1
    }
  }

  mutating func receive(_ devices: inout Devices) throws {
    while let reply = try devices.nextReply() {
      switch reply.reply {
      case .accepted(let command, _):
        questionWindow?.answered(command, wasOverloaded: false, now: MonotonicInstant.now)
      case .refused(let command, let problem) where problem.code >= Problem.overloaded.code:
        guard let number = commands.number(command), open[number]?.isInFlight == true else {
          continue
        }
        result.refused += 1
        questionWindow?.answered(command, wasOverloaded: true, now: MonotonicInstant.now)
        scheduleRetry(number, after: problem.retryAfter)
      case .attached, .pong, .page: break
      default: throw UnexpectedReply(reply: reply.reply)
      }
    }
    while let (family, event) = try devices.nextEvent() {
      switch event.kind {
      // A device's own event acknowledges its command.
      case .asked:
        questionWindow?.answered(event.command, wasOverloaded: false, now: MonotonicInstant.now)
      case .approved:
        _ = try devices.send(.acknowledge, .init(family: family, seq: event.seq))
        try finish(event, in: family)
      case .other: break
      }
    }
    try sendAdmitted(&devices)
  }

  /// Records a decision. The question may be decided already or dropped.
  private mutating func finish(_ event: BroadcastPeek, in family: UInt64) throws {
    guard let number = questions.number(event.question),
      let question = open.removeValue(forKey: number)
    else { return }
    guard question.family == family else { throw WrongFamily() }
    known[Int(number >> 6) & (known.count - 1)] |= 1 << (number & 63)
    result.done += 1
    if question.askedAt >= since {
      result.times.append((MonotonicInstant.now - question.askedAt).seconds)
    }
  }
}

/// A decision named a question of another family.
struct WrongFamily: Error {}
