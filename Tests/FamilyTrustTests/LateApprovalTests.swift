import FamilyModel
import Testing

/// A case that the simulator found.
@Suite struct LateApprovalTests {
  @Test(
    "R9, K3: an approval that arrives after a later withdrawal leaves the handle unknown",
    arguments: [nil, SignedFamily.app])
  func late(_ app: AppID?) {
    var home = SignedFamily()
    let question = home.ask("ada")
    // Rosa approves offline; Alex withdraws later, but the relay receives the withdrawal first.
    home.disconnect(1)
    home.answer(question, "approve")
    home.now = home.now + .seconds(1)
    home.guardian(2, .withdraw(child: SignedFamily.emily, .handle(Handle("ada", .custom), in: app)))
    home.connect(1)
    for device: UInt32 in [3, 4] {
      #expect(home.answers[device, default: []].map(\.id) == [Choice.approve.id])
      #expect(home.children[device]!.knownHandles(in: SignedFamily.app).isEmpty)
      #expect(home.known(device).isEmpty)
    }
    // A new approval after the withdrawal makes the handle known.
    home.now = home.now + .seconds(1)
    let again = home.ask("ada")
    home.answer(again, "approve")
    #expect(home.known() == ["ada"] && home.known(4) == ["ada"])
  }
}
