import FamilyModel
import FamilyTrust
import RelayRuntime
import Testing

@Suite struct VisitTests {
  @Test("M4, M5: a visit under a guardian's credential leaves the device's position as it is")
  func position() async throws {
    let rig = try await Rig()
    let keys = try rig.found(1)
    let child = try rig.peer(1, 30, keys[30])
    _ = try child.post("hello")
    var visit = try DeviceClient(
      Credential(
        address: DeviceAddress(family: FamilyID(1), device: DeviceID(10)), personID: PersonID(1),
        role: .organizer, name: "P1", keys: keys[10]!, deviceKeys: Rig.deviceKeys(10),
        organizerKey: Rig.deviceKeys(10).signingKey, relayKey: rig.keys.keys.publicKey,
        requests: RelayKeys.requests(in: rig.folder),
        broadcasts: RelayKeys.broadcasts(in: rig.folder)))
    let machine = try visit.machine()
    #expect(machine.link.conversations[PersonID(3)]?.lines.map(\.body) == [.text("hello")])
    try visit.send(.post(child: PersonID(3), .text("hi")))
    try child.attach()
    let channel = child.channels[.conversation(PersonID(3))]
    #expect(channel?.receipt == Receipt())
    // The device itself gets everything, from the first event on.
    let device = try rig.peer(1, 10, keys[10])
    #expect(try device.texts() == ["hello", "hi"])
    try await rig.stop()
  }
}
