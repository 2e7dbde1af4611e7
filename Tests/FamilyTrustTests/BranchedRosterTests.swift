import FamilyModel
import FamilyTrust
import Testing

@testable import FamilyCore

/// The rosters of a device that has read two histories of them, in its app.
@Suite struct BranchedRosterTests {
  /// A family whose relay lost the removal of device 4. Alex's device, which missed the removal, added
  /// device 5 in the restored history.
  private func branched() -> SignedFamily {
    var home = SignedFamily()
    let (copy, keys) = (home.log, home.keys)
    home.answer(home.ask("ada"), "approve")
    home.disconnect(2)
    #expect(home.change { $0.devices.removeAll { $0.id == DeviceID(4) } } == nil)
    home.restoreRelay(copy, connecting: [3])
    home.roster = home.relay.state(of: SignedFamily.family)!.roster
    home.connect(2)
    #expect(home.change(by: 2) { $0.devices.append(SignedFamily.device(5, 2, keys)) } == nil)
    return home
  }

  /// The proofs of all rosters that the device counts.
  private func proofs(_ home: SignedFamily) -> [RosterProof] { home.children[3]!.link.rosterProofs }

  /// An app that attaches now.
  private func newApp(_ home: SignedFamily) -> AppMachine {
    var app = AppMachine(
      SignedFamily.app, trusting: (home.appSecurity, KeyVault.Public()),
      restoring: [.pinned(home.appSecurity)])
    _ = app.step(.reply(.attached(acknowledged: 0)))
    return app
  }

  /// The problem with which the app rejects a roster; `nil` if it counts the roster.
  private func problem(of proof: RosterProof, _ app: inout AppMachine) -> Problem? {
    for case .rejected(let problem) in app.step(.reply(.roster(proof))) { return problem }
    return nil
  }

  /// Whether the device is in the last roster that the app counts.
  private func trusts(_ app: AppMachine, _ device: UInt32) -> Bool {
    app.verifier!.rosters.signers.contains(DeviceID(device))
  }

  @Test("T5, T9: an app follows the rosters of two histories, in every process of app and device")
  func followed() {
    var home = branched()
    #expect(home.appProblems == [:])
    home.startApp(on: 3)
    home.disconnect(3)
    home.restore(3)
    home.connect(3)
    home.startApp(on: 3)
    #expect(home.appProblems == [:])
    home.connect(1)
    home.wait(.minutes(1))
    let roster = home.relay.state(of: SignedFamily.family)!.roster
    #expect(roster.device(DeviceID(4)) == nil && roster.device(DeviceID(5)) != nil)
    home.guardian(1, SignedFamily.contact("ben", known: true))
    home.disconnect(3)
    home.restore(3)
    home.connect(3)
    home.startApp(on: 3)
    home.guardian(2, SignedFamily.contact("eve", known: true))
    #expect(home.known() == ["ada", "ben", "eve"])
    #expect(home.appProblems == [:])
    #expect(trusts(home.apps[3]!, 1) && trusts(home.apps[3]!, 5))
  }

  @Test("T4, T9: a branch brings no device back that another branch has removed")
  func removed() {
    var home = SignedFamily()
    let (first, keys) = (home, home.keys)
    #expect(home.change { $0.devices.removeAll { $0.id == DeviceID(2) } } == nil)
    var other = first
    #expect(other.change { $0.devices.append(SignedFamily.device(5, 1, keys)) } == nil)
    var app = newApp(home)
    for proof in proofs(home) + [proofs(other)[1]] { #expect(problem(of: proof, &app) == nil) }
    #expect(trusts(app, 1) && trusts(app, 5) && !trusts(app, 2))
  }

  @Test("T4, T9: a roster of a signer whom another branch has removed does not count")
  func formerGuardian() {
    var home = SignedFamily()
    let (first, keys) = (home, home.keys)
    #expect(home.change { $0.devices.removeAll { $0.id == DeviceID(2) } } == nil)
    var other = first
    #expect(other.change(by: 2) { $0.devices.append(SignedFamily.device(5, 2, keys)) } == nil)
    var app = newApp(home)
    for proof in proofs(home) + [proofs(other)[1]] { #expect(problem(of: proof, &app) == nil) }
    #expect(trusts(app, 1) && !trusts(app, 2) && !trusts(app, 5))
    // The other order is that of a device that read the addition before the removal.
    app = newApp(home)
    for proof in proofs(other) + [proofs(home)[1]] { #expect(problem(of: proof, &app) == nil) }
    #expect(trusts(app, 1) && !trusts(app, 2))
  }

  @Test("T4, T9: a device cannot show a roster before the one that it changes")
  func reordered() {
    var home = SignedFamily()
    let keys = home.keys
    #expect(home.change { $0.devices.append(SignedFamily.device(5, 2, keys)) } == nil)
    #expect(home.change { $0.devices.removeAll { $0.id == DeviceID(5) } } == nil)
    let all = proofs(home)
    var app = newApp(home)
    #expect(problem(of: all[0], &app) == nil)
    #expect(problem(of: all[2], &app) == .replayed)
    // No signature covers a roster's position.
    var moved = all[1]
    moved.seq = 900
    #expect(problem(of: moved, &app) == nil)
    #expect(problem(of: all[2], &app) == nil)
    #expect(problem(of: all[1], &app) == nil)
    #expect(!trusts(app, 5))
  }

  @Test("T4: relay and devices refuse a roster that names another one before it")
  func otherFormer() {
    var home = SignedFamily()
    let older = home.digestOfRoster()
    #expect(home.change { $0.persons[0].displayName = "Rosalind" } == nil)
    var next = home.roster
    next.persons[0].displayName = "Rosa"
    let id = CommandID(high: UInt64(home.now.milliseconds) << 16, low: 9)
    for former in [older, ChainHash(), ChainHash(bytes: Array(repeating: 8, count: 32))!] {
      let known = Knowledge(
        family: home.children[3]!.link.verifier!.head(.family), roster: former)
      let body = Event.Body.rosterChanged(next)
      let signature = home.sign(body, id, .family, as: 1, knowing: known)
      var home = home
      #expect(home.request(1, 90, .command(id, .setRoster(next), signature)) == .forked)
      home.hand(home.forged(body, in: .family, by: 1, id: id, signature: signature), to: 3)
      #expect(home.problems[3] == [.forked])
      #expect(home.children[3]!.link.roster.persons[0].displayName == "Rosalind")
    }
  }
}
