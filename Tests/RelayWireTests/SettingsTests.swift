import FamilyModel
import Testing

@testable import FamilyCore
@testable import RelayWire

@Suite struct SettingsTests {
  private let child = PersonID(3)

  private func event(_ body: Event.Body) -> Event {
    Event(
      seq: 7, previous: 0, audience: .account(child), command: CommandID(high: 1, low: 2),
      device: DeviceID(1), at: Instant(milliseconds: 9), body: body)
  }

  private var rules: WebRules {
    var rules = WebRules()
    rules.others = .ask
    rules.report = .sites
    rules.sites = [Site("example.co.uk")!: .block, Site("xn--bcher-kva.example")!: .allow]
    return rules
  }

  @Test("S3, S5: each setting of a child survives encoding")
  func settings() throws {
    let contents: [Content] =
      [.webRules(rules), .webRules(WebRules())]
      + CommunicationSafety.allCases.map { .communicationSafety($0) }
      + [.webUseDeleted(nil), .webUseDeleted(Site("example.co.uk")!)]
    for content in contents {
      #expect(try Content.sealed(content.bytes).opened() == content)
      let sent = event(.settingsChanged(child, content, proof: []))
      #expect(try Event.decode(sent.encode()).opened() == sent)
    }
  }

  @Test("S5: messages and records about sites survive encoding, and bad ones are refused")
  func access() throws {
    func decoded(_ bytes: [UInt8]) throws -> AppRequest {
      try bytes.withUnsafeBytes { bytes throws(Problem) in try AppRequest.decode(bytes) }
    }
    func decoded(_ bytes: [UInt8]) throws -> AppReply {
      try bytes.withUnsafeBytes { bytes throws(Problem) in try AppReply.decode(bytes) }
    }
    let site = Site("example.co.uk")!
    let accesses = [
      SiteAccess(site, .allow, until: Instant(milliseconds: 9)), SiteAccess(site, .block),
    ]
    for request: AppRequest in [.sites([site]), .sites([])] {
      #expect(try decoded(request.encode()) == request)
    }
    for reply: AppReply in [.sites(accesses, isRestricted: true), .sites([], isRestricted: false)] {
      #expect(try decoded(reply.encode()) == reply)
    }
    #expect(try decoded(AppReply.sitesChanged.encode()) == AppReply.sitesChanged)
    let records: [AppRecord] = [.site(accesses[0]), .webRestricted(true), .webRestricted(false)]
    for record in records {
      #expect(try AppRecord.decode(key: record.key, value: record.value) == record)
    }
    let limit = Limits.sitesInMessage
    let most: AppRequest = .sites(Array(repeating: site, count: limit))
    #expect(try decoded(most.encode()) == most)
    #expect(throws: Problem.tooLarge) {
      let _: AppRequest = try decoded(
        AppRequest.sites(Array(repeating: site, count: limit + 1)).encode())
    }
    #expect(throws: Problem.tooLarge) {
      let many = Array(repeating: accesses[0], count: limit + 1)
      let _: AppReply = try decoded(AppReply.sites(many, isRestricted: true).encode())
    }
    let requests = AppRequest.requesting(Array(repeating: site, count: limit + 1))
    #expect(requests == [most, .sites([site])] && AppRequest.requesting([]) == [.sites([])])
    var message = PBAppRequest()
    message.version = Wire.version
    message.sites = .with { $0.sites = ["Example.com"] }
    #expect(throws: Problem.malformed) {
      let _: AppRequest = try decoded(Wire.encode(message))
    }
  }

  @Test("S2: messages and records about pictures survive encoding, and bad ones are refused")
  func pictures() throws {
    func request(_ bytes: [UInt8]) throws -> AppRequest {
      try bytes.withUnsafeBytes { bytes throws(Problem) in try AppRequest.decode(bytes) }
    }
    func reply(_ bytes: [UInt8]) throws -> AppReply {
      try bytes.withUnsafeBytes { bytes throws(Problem) in try AppReply.decode(bytes) }
    }
    let picture = Avatar(mediaType: "image/png", bytes: [1, 2, 3])
    for sent: AppRequest in [.safety, .analyze(.max, picture)] {
      #expect(try request(sent.encode()) == sent)
    }
    var replies = CommunicationSafety.allCases.map { AppReply.safety($0) }
    replies += [true, false].map { .analyzed(7, .checked(isSensitive: $0)) }
    replies.append(.analyzed(8, .failed(.noVerdict)))
    for sent in replies { #expect(try reply(sent.encode()) == sent) }
    for setting in CommunicationSafety.allCases {
      let record = AppRecord.safety(setting)
      #expect(try AppRecord.decode(key: record.key, value: record.value) == record)
    }
    #expect(throws: Problem.malformed) { try AppRecord.decode(key: [13], value: []) }
    #expect(throws: Problem.malformed) { try AppRecord.decode(key: [13], value: [9]) }
    var message = PBAppReply()
    message.version = Wire.version
    message.safety = 3
    #expect(throws: Problem.malformed) { try reply(Wire.encode(message)) }
    message.analyzed = PBPictureVerdict()
    #expect(throws: Problem.malformed) { try reply(Wire.encode(message)) }
  }

  @Test("S5: a question to browse survives encoding, and one without a site is refused")
  func browse() throws {
    let question = Question(
      id: QuestionID(high: 1, low: 2), topic: .browse(Site("example.co.uk")!))
    #expect(try Content.sealed(Content.question(question).bytes).opened() == .question(question))
    var message = PBContent()
    message.question = question.wire
    message.question.browse.site = "Example.com"
    #expect(throws: Problem.malformed) { try Content.sealed(Wire.encode(message)).opened() }
  }

  @Test("O5, S3: an older device signs and verifies the same bytes of a changed setting")
  func older() throws {
    for (content, proof) in [
      ([1, 2, 3], []), ([UInt8](repeating: 7, count: 300), [UInt8](1...64)),
    ]
      as [([UInt8], [UInt8])]
    {
      let sent = event(.settingsChanged(child, .sealed(content), proof: proof))
      // The body as a version without the kind reads it.
      let older = try OpaqueBody(ofEvent: sent.encode())
      #expect(older == OpaqueBody.settings(child, .sealed(content), proof: proof))
      func signed(_ body: Event.Body) -> [UInt8] {
        SignedBytes.of(
          body, sent.command, in: FamilyID(7), sent.audience, by: DeviceID(1),
          knowing: Knowledge(), question: nil, digest: { $0 }, bytes: { $0.bytes })
      }
      #expect(signed(sent.body) == signed(.opaque(older)))
      var other = proof
      other.append(1)
      #expect(signed(sent.body) != signed(.settingsChanged(child, .sealed(content), proof: other)))
    }
  }

  @Test(
    "S5: rules with an unknown access, a wrong name, a repeated or one site too many are refused")
  func refused() {
    func problem(_ change: (inout PBWebRules) -> Void) -> Problem? {
      var message = PBContent()
      message.webRules = rules.wire
      change(&message.webRules)
      do throws(Problem) { _ = try Content.sealed(Wire.encode(message)).opened() } catch {
        return error
      }
      return nil
    }
    func rule(_ site: String) -> PBWebRules.Rule {
      .with {
        $0.site = site
        $0.access = 1
      }
    }
    #expect(problem { _ in } == nil)
    #expect(problem { $0.others = 0 } == .malformed)
    #expect(problem { $0.rules[0].access = 4 } == .malformed)
    #expect(problem { $0.report = 3 } == .malformed)
    for name in [
      "", "Example.com", "b\u{fc}cher.example", "a b", String(repeating: "a", count: 254),
    ] {
      #expect(problem { $0.rules.append(rule(name)) } == .malformed)
    }
    #expect(problem { $0.rules.append($0.rules[0]) } == .malformed)
    let most = (0..<Limits.webSites).map { rule("a\($0).example") }
    #expect(problem { $0.rules = most } == nil)
    #expect(problem { $0.rules = most + [rule("b.example")] } == .tooLarge)
  }
}
