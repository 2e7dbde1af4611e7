import DeviceAgent
import FamilyModel
import ZeroMQ

/// The children's side: asks, backs off when it is told to, and acknowledges decisions.
struct Children {
  private struct Question {
    let family: UInt64
    /// When it was asked, in nanoseconds.
    let begun: UInt64
    var attempts = 0
    /// It is sent, and may have to be sent again.
    var isOnTheWay = false
  }

  /// Nanoseconds of one bucket of retries.
  private static let bucket: UInt64 = 10_000_000

  private let families: UInt64
  private let commands = Numbered()
  private let questions = Numbered()
  private var asked: UInt64 = 0
  /// As agents hold back; `nil`: everything is sent, and what is refused sent again later.
  private var pace: QuestionWindow<UInt64>?
  /// Asked, and not decided yet, by number.
  private var open: [UInt64: Question] = [:]
  private var retries: [UInt64: [UInt64]] = [:]
  private var retried: UInt64 = 0
  /// What an app would know: a bit for each of the newest questions.
  private var known = [UInt64](repeating: 0, count: 1 << 14)
  private var due: Double = 0
  private var lastTurn: UInt64 = 0
  private var random = SystemRandomNumberGenerator()
  /// Whether a question of this turn found no room: the others are not even tried.
  private var isShedding = false
  /// The latency of older questions is not told.
  private var since: UInt64 = 0
  private var result = Load.Sample()

  init(families: UInt64, isPatient: Bool) {
    self.families = families
    pace = isPatient ? QuestionWindow() : nil
  }

  mutating func take() -> Load.Sample {
    defer { result = Load.Sample() }
    return result
  }

  mutating func ask(_ devices: inout Devices, window: Int, rate: Double, since: UInt64) throws {
    if window > 0, rate == 0, self.since != since { forget() }
    self.since = since
    isShedding = false
    let now = Monotonic.now()
    if rate > 0 {
      // What came due meanwhile, at most a tenth of a second of it.
      due += rate * min(0.1, Double(now - max(lastTurn, 1)) / 1e9)
      lastTurn = now
      while due >= 1 {
        due -= 1
        try ask(&devices, now)
      }
    } else {
      lastTurn = now
      while open.count < window { try ask(&devices, now) }
    }
    try retry(&devices, now)
  }

  /// What is left of an overload is not asked again: it would come between the questions of the window.
  private mutating func forget() {
    (open, retries) = ([:], [:])
    if pace != nil { pace = QuestionWindow() }
  }

  private mutating func ask(_ devices: inout Devices, _ now: UInt64) throws {
    asked += 1
    open[asked] = Question(family: asked % families + 1, begun: now)
    result.asked += 1
    try send(asked, &devices)
  }

  private mutating func send(_ number: UInt64, _ devices: inout Devices) throws {
    guard let begun = open[number]?.begun else { return }
    guard pace != nil else { return try transmit(number, &devices) }
    if pace!.wait(commands.id(number, at: begun), number) {
      try takeTurns(&devices)
    } else {
      result.unsent += 1
      wait(number, milliseconds: 1_000)
    }
  }

  private mutating func takeTurns(_ devices: inout Devices) throws {
    while let (command, number) = pace?.next(Monotonic.now()) {
      _ = pace!.maySend(command, Monotonic.now())
      try transmit(number, &devices)
    }
  }

  private mutating func transmit(_ number: UInt64, _ devices: inout Devices) throws {
    guard let question = open[number] else { return }
    let command = commands.id(number, at: question.begun)
    if !isShedding {
      isShedding = try !devices.send(
        .ask,
        .init(family: question.family, command: command, question: questions.id(number, at: 0)))
    }
    guard isShedding else {
      open[number]!.isOnTheWay = true
      return
    }
    result.unsent += 1
    wait(number, milliseconds: 1_000)
  }

  /// As agents wait: what they are told or longer each time, and up to twice that, at random.
  private mutating func wait(_ number: UInt64, milliseconds: UInt32) {
    guard let attempts = open[number]?.attempts else { return }
    open[number]!.attempts = attempts + 1
    open[number]!.isOnTheWay = false
    let first = UInt64(max(1_000, milliseconds)) << UInt64(min(attempts, 5))
    let wait = min(first, 30_000) * UInt64.random(in: 1_000...2_000, using: &random) * 1_000
    retries[(Monotonic.now() + wait) / Self.bucket, default: []].append(number)
  }

  private mutating func retry(_ devices: inout Devices, _ now: UInt64) throws {
    if retried == 0 { retried = now / Self.bucket }
    while retried < now / Self.bucket {
      for number in retries.removeValue(forKey: retried) ?? [] { try send(number, &devices) }
      retried += 1
    }
  }

  mutating func hear(_ devices: inout Devices) throws {
    while let reply = try devices.nextReply() {
      switch reply.reply {
      case .accepted(let command, _):
        pace?.answered(command, isTooMuch: false, Monotonic.now())
      case .refused(let command, let problem) where problem.code >= Problem.overloaded.code:
        guard let number = commands.number(command), open[number]?.isOnTheWay == true else {
          continue
        }
        result.refused += 1
        pace?.answered(command, isTooMuch: true, Monotonic.now())
        wait(number, milliseconds: problem.retryAfter)
      case .attached, .pong, .page: break
      default: throw Refused(reply: reply.reply)
      }
    }
    while let (family, event) = try devices.nextEvent() {
      switch event.kind {
      // Its own event is the answer to its command.
      case .asked: pace?.answered(event.command, isTooMuch: false, Monotonic.now())
      case .approved:
        _ = try devices.send(.acknowledge, .init(family: family, seq: event.seq))
        try finish(event, in: family)
      case .other: break
      }
    }
    try takeTurns(&devices)
  }

  /// It may have been decided before, or forgotten.
  private mutating func finish(_ event: BroadcastPeek, in family: UInt64) throws {
    guard let number = questions.number(event.question),
      let question = open.removeValue(forKey: number)
    else { return }
    guard question.family == family else { throw WrongFamily() }
    known[Int(number >> 6) & (known.count - 1)] |= 1 << (number & 63)
    result.done += 1
    if question.begun >= since {
      result.times.append(Double(Monotonic.now() - question.begun) / 1e9)
    }
  }
}

/// A decision came for a question of another family.
struct WrongFamily: Error {}
