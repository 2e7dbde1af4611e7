import RelayServer
import RelayFixture
import FamilyModel
import Testing

@Suite struct DeviceClientTests {
  @Test("M4, M5: a client with a device's credential does not move the device's cursor")
  func position() async throws {
    let fixture = try await RelayFixture()
    let keys = try fixture.createFamily(1)
    var child = try fixture.client(1, 30, .child, keys)
    try child.send(.post(child: PersonID(3), .text("hello")))
    var client = try fixture.client(1, 10, .organizer, keys)
    let machine = try client.machine()
    #expect(machine.link.conversations[PersonID(3)]?.lines.map(\.body) == [.text("hello")])
    try client.send(.post(child: PersonID(3), .text("hi")))
    let device = try fixture.peer(1, 30, keys[30])
    try device.attach()
    #expect(device.channels[.conversation(PersonID(3))]?.receipt == Receipt())
    // The device itself receives every event from the first on.
    let lines = try child.machine().link.conversations[PersonID(3)]?.lines
    #expect(lines?.map(\.body) == [.text("hello"), .text("hi")])
    try await fixture.stop()
  }

  @Test(
    "S3: a guardian's credential can set controls, which all devices read from the family's state")
  func controls() async throws {
    let fixture = try await RelayFixture()
    let keys = try fixture.createFamily(1)
    let emily = PersonID(3)
    var age = AgeSettings()
    age.ceiling = .thirteen
    var controls = try fixture.client(1, 10, .organizer, keys)
    for command in [
      .setLimits(child: emily, on: false), .setAge(emily, .ageSettings(age), proof: []),
    ] as [Command] { try controls.send(command) }
    try controls.setPasscode("246824", logCost: 4)
    var child = try fixture.client(1, 30, .child, keys)
    #expect(throws: Problem.notPermitted) { try child.send(.setLimits(child: emily, on: true)) }
    for link in [try controls.machine().link, try child.machine().link] {
      #expect(link.conversations[emily]?.limitsOn == false)
      #expect(link.passcode?.isOutdated == false && link.age(of: emily).settings == age)
    }
    try await fixture.stop()
  }
}
