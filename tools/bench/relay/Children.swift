import FamilyModel
import RelayRuntime
import ZeroMQ

/// The children's side: asks, backs off when it is told to, and acknowledges decisions.
struct Children {
  private struct Pending {
    var family: UInt64
    var command: CommandID
    var header: QuestionHeader
    var attempts = 0
  }

  /// Some 300 bytes, as a question with a name and two choices has.
  private static let content = Content.sealed(Array(repeating: 7, count: 230))
  private static let choices = [
    ChoiceHeader(id: "approve", answer: .approval), ChoiceHeader(id: "decline", answer: .denial),
  ]
  /// Nanoseconds of one bucket of retries.
  private static let bucket: UInt64 = 10_000_000

  private let families: UInt64
  /// As agents hold back; `nil`: everything is sent, and what is refused sent again later.
  private var pace: Pace<Pending>?
  private var nextFamily: UInt64 = 0
  /// Asked, and not decided yet: when, in nanoseconds.
  private var begun: [QuestionID: UInt64] = [:]
  /// By command, until it is accepted: what may have to be sent again.
  private var unaccepted: [CommandID: Pending] = [:]
  private var retries: [UInt64: [Pending]] = [:]
  private var retried: UInt64 = 0
  private var known: Set<QuestionID> = []
  private var due: Double = 0
  private var lastTurn: UInt64 = 0
  private var random = SystemRandomNumberGenerator()
  /// Whether a question of this turn found no room: the others are not even encoded.
  private var isFull = false
  /// The latency of older questions is not told.
  private var since: UInt64 = 0
  private var result = Load.Sample()

  init(families: UInt64, isPatient: Bool) {
    self.families = families
    pace = isPatient ? Pace() : nil
  }

  mutating func take() -> Load.Sample {
    defer { result = Load.Sample() }
    return result
  }

  mutating func ask(_ devices: inout Devices, window: Int, rate: Double, since: UInt64) throws {
    if window > 0, rate == 0, self.since != since { forget() }
    self.since = since
    isFull = false
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
      while begun.count < window { try ask(&devices, now) }
    }
    try retry(&devices, now)
  }

  /// What is left of an overload is not asked again: it would come between the questions of the window.
  private mutating func forget() {
    (begun, unaccepted, retries) = ([:], [:], [:])
    if pace != nil { pace = Pace() }
  }

  private mutating func ask(_ devices: inout Devices, _ now: UInt64) throws {
    nextFamily = nextFamily % families + 1
    let id = devices.newID()
    let header = QuestionHeader(
      id: id, child: RelayAddress.child, app: AppID("example.landmarks"),
      subjects: withUnsafeBytes(of: id.low) { Array($0) }, choices: Self.choices, expiration: nil)
    begun[id] = now
    result.asked += 1
    try send(Pending(family: nextFamily, command: devices.newID(), header: header), &devices)
  }

  private mutating func send(_ pending: Pending, _ devices: inout Devices) throws {
    switch pace?.offer(pending.command, isQuestion: true, Monotonic.now(), pending) ?? .now {
    case .now: try transmit(pending, &devices)
    case .later: break
    case .never:
      result.unsent += 1
      wait(pending, milliseconds: 1_000)
    }
  }

  private mutating func transmit(_ pending: Pending, _ devices: inout Devices) throws {
    if !isFull {
      let request = devices.signed(.ask(pending.header, Self.content), id: pending.command)
      isFull = try !devices.offerQuestion(request, in: pending.family)
    }
    guard isFull else { return unaccepted[pending.command] = pending }
    result.unsent += 1
    wait(pending, milliseconds: 1_000)
  }

  /// As agents wait: what they are told or longer each time, and up to twice that, at random.
  private mutating func wait(_ pending: Pending, milliseconds: UInt32) {
    var pending = pending
    pending.attempts += 1
    let first = UInt64(max(1_000, milliseconds)) << UInt64(min(pending.attempts - 1, 5))
    let wait = min(first, 30_000) * UInt64.random(in: 1_000...2_000, using: &random) * 1_000
    retries[(Monotonic.now() + wait) / Self.bucket, default: []].append(pending)
  }

  private mutating func retry(_ devices: inout Devices, _ now: UInt64) throws {
    if retried == 0 { retried = now / Self.bucket }
    while retried < now / Self.bucket {
      for pending in retries.removeValue(forKey: retried) ?? [] { try send(pending, &devices) }
      retried += 1
    }
  }

  mutating func hear(_ devices: inout Devices) throws {
    while let reply = try devices.nextReply() {
      switch reply.reply {
      case .accepted(let command, _):
        unaccepted[command] = nil
        pace?.answered(command, isTooMuch: false, Monotonic.now())
      case .refused(let command, let problem) where problem.code >= Problem.overloaded.code:
        guard let pending = unaccepted.removeValue(forKey: command) else { continue }
        result.refused += 1
        pace?.answered(command, isTooMuch: true, Monotonic.now())
        wait(pending, milliseconds: problem.retryAfter)
      case .attached, .pong, .page: break
      default: throw Refused(reply: reply.reply)
      }
    }
    while let (family, broadcast) = try devices.nextBroadcast() {
      guard case .event(let event) = broadcast else { continue }
      // Its own event is the answer to its command.
      unaccepted[event.command] = nil
      pace?.answered(event.command, isTooMuch: false, Monotonic.now())
      guard case .decided(let decision) = event.body else { continue }
      let audience = Audience.conversation(RelayAddress.child)
      try devices.send(.acknowledge([Cursor(audience, delivered: event.seq)]), in: family)
      guard let start = begun.removeValue(forKey: decision.question) else { continue }
      known.insert(decision.question)
      if known.count > 1_000_000 { known.removeAll(keepingCapacity: true) }
      result.done += 1
      if start >= since { result.times.append(Double(Monotonic.now() - start) / 1e9) }
    }
    let now = Monotonic.now()
    while let next = pace?.next(now) { try transmit(next, &devices) }
  }
}
