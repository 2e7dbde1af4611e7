import RelayServer
import RelayFixture
import FamilyModel
import Foundation
import RelayWire
import Testing

/// The content of the relay's files.
@Suite struct SealedStoreTests {
  @Test("X3: after an approval the relay's files contain no handle, name, text or birthdate")
  func files() async throws {
    let fixture = try await RelayFixture()
    let keys = try fixture.createFamily(1)
    let emily = PersonID(3)
    var child = try fixture.client(1, 30, .child, keys)
    var guardian = try fixture.client(1, 10, .organizer, keys)
    var person = Subject(handle: Handle("dragonslayer42", .custom))
    person.name = NameParts()
    person.name?.given = "Adalbertine"
    let question = Question(
      id: ID128(high: 4, low: 2), topic: .communication(people: [person], actions: .chat),
      choices: [Choice(id: "ok", title: "Certainly", answer: .approval), .decline])
    let header = QuestionHeader(
      id: question.id, child: emily, app: AppID("example.landmarks"), subjects: [],
      choices: question.choices.map { ChoiceHeader(id: $0.id, answer: $0.answer) }, expiration: nil)
    try child.send(.ask(header, .question(question)))
    _ = try guardian.machine()
    try guardian.send(.answer(question.id, choice: "ok"))
    try guardian.send(.post(child: emily, .text("marzipan")))
    try guardian.send(
      .changeContact(child: emily, .contact(Handle("+15550100", .phoneNumber), known: true)))
    let account = Content.account(
      Account(
        birthdate: .init(year: 2014, month: 5, day: 17), region: "NZ",
        declaration: .guardianDeclared))
    try guardian.send(.setAccount(emily, account))
    try guardian.send(
      .withdraw(child: emily, .withdrawal(.handle(Handle("dragonslayer42", .custom), in: nil))))
    let machine = try child.machine()
    #expect(
      machine.link.conversations[emily]?.known.all(in: header.app).map(\.value) == ["+15550100"])
    try await fixture.stop()
    var bytes = Data()
    for file in try FileManager.default.contentsOfDirectory(
      at: fixture.folder, includingPropertiesForKeys: nil)
    where file.lastPathComponent.hasPrefix("relay.sqlite") {
      bytes += try Data(contentsOf: file)
    }
    #expect(bytes.range(of: Data(account.bytes)) == nil)
    for secret in ["dragonslayer42", "Adalbertine", "Certainly", "marzipan", "15550100"] {
      #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(secret)")
    }
    // The same search finds the fields that the relay may see.
    for visible in ["example.landmarks", "ok", "decline"] {
      #expect(bytes.range(of: Data(visible.utf8)) != nil, "\(visible)")
    }
  }
}
