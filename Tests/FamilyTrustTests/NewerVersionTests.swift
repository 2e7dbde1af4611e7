import FamilyModel
import FamilyTrust
import RelayWire
import Testing

@testable import FamilyCore

/// Devices of this version beside a device and a relay of a later one.
@Suite struct NewerVersionTests {
  private static let audience = Audience.conversation(SignedFamily.emily)
  /// A kind that no relay needs to know, and one that only a newer relay accepts.
  private static let statement = OpaqueBody(kind: 1_000, bytes: [10, 3, 1, 2, 3])
  private static let enforced = OpaqueBody(kind: 300, bytes: [8, 1])

  /// The device of a later version sends a command that this version does not know.
  private func state(
    _ home: inout SignedFamily, _ body: OpaqueBody = Self.statement,
    in audience: Audience = Self.audience,
    by device: UInt32 = 2, with keys: DeviceKeys? = nil
  ) -> Problem? {
    let id = id(home)
    let signature = home.sign(
      .opaque(body), id, audience, as: device, with: keys, basedOnSeq: home.rosterSeq)
    return home.request(device, 1, .command(id, .opaque(audience, body), signature))
  }

  /// A newer relay accepts an event of a kind that this version does not know.
  private func accept(
    _ home: inout SignedFamily, _ body: OpaqueBody = Self.enforced, isSigned: Bool = true
  ) {
    let id = id(home)
    let signature = home.sign(
      .opaque(body), id, Self.audience, as: 2, with: isSigned ? nil : DeviceKeys(),
      basedOnSeq: home.rosterSeq)
    home.storeUnchecked(home.forged(.opaque(body), by: 2, id: id, signature: signature))
  }

  private func id(_ home: SignedFamily) -> CommandID {
    CommandID(high: UInt64(home.now.milliseconds) << 16, low: UInt64(home.log.count) << 8 | 8)
  }

  private func link(_ home: SignedFamily, _ device: UInt32) -> DeviceLink {
    home.children[device]?.link ?? home.guardians[device]!.link
  }

  /// Whether the device has read all events of the conversation.
  private func isUpToDate(_ home: SignedFamily, _ device: UInt32) -> Bool {
    link(home, device).delivered(Self.audience)
      == home.log.last { $0.audience == Self.audience }?.seq
  }

  private func newerLines(_ home: SignedFamily, _ device: UInt32) -> Int {
    link(home, device).conversations[SignedFamily.emily]?.lines.count { $0.body == .newer } ?? 0
  }

  private func approve(_ home: inout SignedFamily, _ handle: String) {
    let id = home.ask(handle)
    home.answer(id, "approve")
  }

  @Test(
    "O5: an event of an unknown kind reaches all devices, and later events count",
    arguments: [true, false])
  func passes(isStatement: Bool) {
    var home = SignedFamily()
    approve(&home, "ada")
    if isStatement { #expect(state(&home) == nil) } else { accept(&home) }
    approve(&home, "ben")
    for device: UInt32 in 1...4 {
      #expect(isUpToDate(home, device) && newerLines(home, device) == 1)
      #expect(link(home, device).newerCount == 1)
    }
    #expect(home.known() == ["ada", "ben"] && home.known(4) == ["ada", "ben"])
    #expect(home.problems == [:] && home.lost.isEmpty && home.appProblems == [:])
  }

  @Test(
    "O5: a page with an unknown kind in its middle brings the events before and after it",
    arguments: [true, false])
  func page(isStatement: Bool) {
    var home = SignedFamily(connected: [1, 2])
    for id: UInt32 in [3, 4] { home.connect(id) }
    home.disconnect(3)
    home.guardian(1, .post(child: SignedFamily.emily, "before"))
    if isStatement { #expect(state(&home) == nil) } else { accept(&home) }
    home.guardian(1, .post(child: SignedFamily.emily, "after"))
    home.connect(3)
    let lines = link(home, 3).conversations[SignedFamily.emily]!.lines.map(\.body)
    #expect(lines == [.text("before"), .newer, .text("after")])
    #expect(isUpToDate(home, 3) && home.problems == [:])
  }

  @Test("O5: the former decoder stops a device at the first event of an unknown kind")
  func formerDecoder() {
    var home = SignedFamily()
    home.formerDecoders = [3]
    approve(&home, "ada")
    #expect(state(&home) == nil)
    approve(&home, "ben")
    home.wait(.minutes(10))
    #expect(!isUpToDate(home, 3) && home.known() == ["ada"])
    home.formerDecoders = []
    home.wait(.minutes(1))
    #expect(isUpToDate(home, 3) && home.known() == ["ada", "ben"])
  }

  @Test("O5: a restarted device keeps the bytes of an unknown kind, and its chain")
  func restart() throws {
    var home = SignedFamily()
    #expect(state(&home) == nil)
    accept(&home)
    let before = link(home, 3).verifier!.head(Self.audience)
    home.disconnect(3)
    home.restore(3)
    #expect(link(home, 3).verifier!.head(Self.audience) == before)
    home.connect(3)
    approve(&home, "ben")
    #expect(isUpToDate(home, 3) && newerLines(home, 3) == 2 && home.known() == ["ben"])
    let kept = home.machines.records(of: 3).compactMap { record -> OpaqueBody? in
      guard case .newer(let event) = record, case .opaque(let body) = event.body else { return nil }
      return body
    }
    #expect(Set(kept) == [Self.statement, Self.enforced])
    #expect(home.problems == [:])
  }

  @Test("O5: an event that this version cannot verify is kept, shown to nobody, and passed")
  func unverified() {
    var home = SignedFamily()
    accept(&home, isSigned: false)
    approve(&home, "ben")
    #expect(isUpToDate(home, 3) && newerLines(home, 3) == 0 && home.known() == ["ben"])
    #expect(home.problems == [:])
    #expect(home.machines.records(of: 3).contains { if case .newer = $0 { true } else { false } })
  }

  @Test(
    "O5: a statement that its signer did not sign, or that its signer may not read, is no event")
  func refused() {
    var home = SignedFamily()
    #expect(state(&home, in: .account(PersonID(1)), by: 3) == .notPermitted)
    #expect(state(&home, with: DeviceKeys()) == nil)
    #expect(newerLines(home, 3) == 0 && home.problems[3] == [.notSigned])
  }
}
