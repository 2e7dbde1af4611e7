import FamilyModel
import RelayRuntime
import Testing

@Suite struct VisitTests {
  @Test("M4, M5: a visit under a guardian's credential leaves the device's position as it is")
  func position() async throws {
    let rig = try await Rig()
    let keys = try rig.found(1)
    var child = try rig.visit(1, 30, .child, keys)
    try child.send(.post(child: PersonID(3), .text("hello")))
    var visit = try rig.visit(1, 10, .organizer, keys)
    let machine = try visit.machine()
    #expect(machine.link.conversations[PersonID(3)]?.lines.map(\.body) == [.text("hello")])
    try visit.send(.post(child: PersonID(3), .text("hi")))
    let device = try rig.peer(1, 30, keys[30])
    try device.attach()
    #expect(device.channels[.conversation(PersonID(3))]?.receipt == Receipt())
    // The device itself gets everything, from the first event on.
    let lines = try child.machine().link.conversations[PersonID(3)]?.lines
    #expect(lines?.map(\.body) == [.text("hello"), .text("hi")])
    try await rig.stop()
  }
}
