import FamilyModel
import Testing

/// Found by the simulator.
@Suite struct LateApprovalTests {
  @Test(
    "R9, K3: an approval that comes after the later withdrawal is not known, and the app forgets it",
    arguments: [nil, SignedFamily.app])
  func late(_ app: AppID?) {
    var home = SignedFamily()
    let question = home.ask("ada")
    // Rosa approves without a connection; Alex withdraws, and the relay has that first.
    home.disconnect(1)
    home.answer(question, "approve")
    home.now = home.now + 1_000
    home.guardian(2, .withdraw(child: SignedFamily.emily, .handle(Handle("ada", .custom), in: app)))
    home.connect(1)
    for device: UInt32 in [3, 4] {
      #expect(home.answers[device, default: []].map(\.id) == [Choice.approve.id])
      #expect(home.children[device]!.knownHandles(in: SignedFamily.app).isEmpty)
      #expect(home.known(device).isEmpty)
    }
    // What is approved after the withdrawal is known.
    home.now = home.now + 1_000
    let again = home.ask("ada")
    home.answer(again, "approve")
    #expect(home.known() == ["ada"] && home.known(4) == ["ada"])
  }
}
