import FamilyCore
import FamilyModel
import Testing

@Suite struct AppLimitTests {
  private var world = World()

  private mutating func expect(
    _ outcome: AskOutcome?, asking number: UInt64, by app: AppID = World.app
  ) {
    let got = ask(number, by: app)
    #expect(got == outcome)
  }

  private mutating func ask(_ number: UInt64, by app: AppID = World.app) -> AskOutcome? {
    let question = World.question(number, Handle("person\(number)", .custom))
    world.child(3, .app(app, .ask(question, .choose)))
    for case .app(app, .asked(question.id, let outcome)) in world.take(3) { return outcome }
    return nil
  }

  @Test("T9: an app that asks without end gets a few prompts; another app still gets its prompt")
  mutating func prompts() {
    for number in 1...UInt64(Limits.appPrompts) { expect(nil, asking: number) }
    for number in 100..<UInt64(10_100) {
      guard ask(number) == .refused(.appLimit) else {
        Issue.record("question \(number) is not refused")
        return
      }
    }
    expect(nil, asking: 50_000, by: World.otherApp)
  }

  @Test("T9: an answered prompt makes room for the next question") mutating func room() {
    for number in 1...UInt64(Limits.appPrompts) { expect(nil, asking: number) }
    world.child(3, .answered(prompt: 1, .cancel))
    _ = world.take(3)
    expect(nil, asking: 20)
    expect(.refused(.appLimit), asking: 21)
  }

  @Test("T9: a question's bytes count its pictures and texts") func bytes() {
    var question = World.question(1, Handle("ada", .custom))
    let small = question.approximateBytes
    #expect(small < 1_000)
    var person = Subject(handle: Handle("ada", .custom))
    person.avatar = Avatar(mediaType: "image/png", bytes: [UInt8](repeating: 1, count: 60_000))
    question.topic = .communication(people: [person], actions: .chat)
    #expect(question.approximateBytes == small + 60_000)
  }

  @Test("T9: default responses that an app does not handle are bounded")
  mutating func defaultResponses() {
    world.guardian(1, .setLimits(child: World.emily, on: false))
    for number in 1...UInt64(Limits.defaultResponses) {
      expect(.answeredByDefault, asking: number)
    }
    expect(.refused(.appLimit), asking: 1_000)
    expect(.answeredByDefault, asking: 1_001, by: World.otherApp)
  }
}

@Suite struct AppAllowanceTests {
  private let start = Instant(milliseconds: 1_000_000)
  private var allowance = AppAllowance()

  /// The number of requests that the allowance permits, of at most 10,000.
  private mutating func permitted(bytes: Int = 100, at now: Instant) -> Int64 {
    var count: Int64 = 0
    while count < 10_000, allowance.mayRequest(bytes: bytes, now: now) { count += 1 }
    return count
  }

  @Test("T9: requests above the burst wait for the rate") mutating func requests() {
    let first = permitted(at: start)
    #expect(first == Limits.requestBurst)
    let second = permitted(at: start + .seconds(1))
    #expect(second == Limits.requestsPerSecond)
    let large = permitted(bytes: Limits.frameBytes, at: start + .hours(1))
    #expect(large == 7)
  }

  @Test("T9: of attachments above the rate, the newest one is handled later")
  mutating func attachments() {
    func attach(_ applied: UInt64) -> AppRequest { .attach(app: World.app, applied: applied) }
    var verdicts: [AppAllowance.Verdict] = []
    for applied in 1...UInt64(10_000) {
      verdicts.append(allowance.decide(attach(applied), now: start))
    }
    let burst = Int(Limits.attachmentBurst)
    #expect(verdicts.prefix(burst).allSatisfy { $0 == .handle })
    #expect(verdicts[burst] == .handleAttachment(after: .milliseconds(250)))
    #expect(verdicts.dropFirst(burst + 1).allSatisfy { $0 == .replace })
    let register = allowance.decide(.register, now: start)
    #expect(register == .handle)
    let waiting = allowance.takeAttachment()
    #expect(waiting == attach(10_000))
    let none = allowance.takeAttachment()
    #expect(none == nil)
  }
}
