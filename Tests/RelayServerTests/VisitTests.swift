import RelayServer
import RelayFixture
import FamilyModel
import Testing

@Suite struct VisitTests {
  @Test("M4, M5: a visit under a guardian's credential leaves the device's position as it is")
  func position() async throws {
    let rig = try await RelayFixture()
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

  @Test("S3: whoever has a guardian's credential can offer controls; one place has what they set")
  func controls() async throws {
    let rig = try await RelayFixture()
    let keys = try rig.found(1)
    let emily = PersonID(3)
    let passcode = Passcode(
      salt: Array(repeating: 1, count: 16), logCost: 14,
      publicKey: RelayFixture.deviceKeys(99).signingKey)
    var age = AgeSettings()
    age.ceiling = .thirteen
    var controls = try rig.visit(1, 10, .organizer, keys)
    for command in [
      .setLimits(child: emily, on: false), .setPasscode(passcode),
      .setAge(emily, .ageSettings(age), proof: []),
    ] as [Command] { try controls.send(command) }
    var child = try rig.visit(1, 30, .child, keys)
    #expect(throws: Problem.notPermitted) { try child.send(.setLimits(child: emily, on: true)) }
    for link in [try controls.machine().link, try child.machine().link] {
      #expect(link.conversations[emily]?.limitsOn == false)
      #expect(link.passcode == passcode && link.age(of: emily).settings == age)
    }
    try await rig.stop()
  }
}
