import FamilyModel
import Foundation
import GatewayModel
import SystemClock
import Testing

@Suite struct JSONTests {
  private let id = UUID(uuidString: "00000000-0000-0000-0000-000000000007")!

  private func ask(_ text: String) throws -> AskBody {
    try AskBody(try JSONValue.parse(Data(text.utf8)), newID: id)
  }

  @Test("X5: a short question has the defaults of the Swift module") func defaults() throws {
    let ask = try ask(#"{"about":{"people":[{"handle":{"kind":"custom","value":"ada"}}]}}"#)
    #expect(ask.question.id == ID128(id) && ask.manner == .choose && ask.window == "")
    #expect(ask.question.choices == [.approve, .decline])
    #expect(ask.question.defaultChoice == .decline && ask.question.expiration == nil)
    #expect(
      ask.question.topic
        == .communication(
          people: [Subject(handle: Handle("ada", .custom))], actions: [.communicate]))
  }

  @Test("X5: a question with every member is read") func full() throws {
    let ask = try ask(
      #"""
      {"id":"3F2504E0-4F89-11D3-9A0C-0305E82C3301","manner":"inPerson","window":"Chats",
       "about":{"people":[{"handle":{"kind":"emailAddress","value":"a@b.c"},
         "name":{"given":"Ada","family":"L"},"picture":{"mediaType":"image/png","base64":"AQID"}}],
         "actions":["chat","videoCall"]},
       "choices":[{"id":"hour","title":"An hour","answer":"approval","end":{"after":3600}},
         {"id":"no","title":"No","answer":"denial"}],
       "defaultChoice":"no","expiration":"2026-11-24T17:00:00.250Z"}
      """#)
    let question = ask.question
    #expect(question.id.uuid.uuidString == "3F2504E0-4F89-11D3-9A0C-0305E82C3301")
    #expect(question.choices[0].end == .after(.seconds(3_600)))
    #expect(question.defaultChoice.id == "no" && ask.manner == .inPerson && ask.window == "Chats")
    #expect(question.expiration == Instant(milliseconds: 1_795_539_600_250))
    #expect(question.expiration?.json == .string("2026-11-24T17:00:00.250Z"))
    guard case .communication(let people, let actions) = question.topic else {
      return #expect(Bool(false))
    }
    #expect(actions == [.chat, .videoCall] && people[0].avatar?.bytes == [1, 2, 3])
    #expect(people[0].name?.given == "Ada")
    #expect(!question.topic.json.text.contains("AQID"), "an event has no picture")
  }

  @Test(
    "X5: an invalid body is refused with the place of its fault",
    arguments: [
      ("[]", ""), ("{}", "about"), (#"{"about":{},"x":1}"#, "x"),
      (#"{"about":{"people":[]}}"#, "about.people"),
      (
        #"{"about":{"people":[{"handle":{"kind":"x","value":"a"}}]}}"#,
        "about.people[0].handle.kind"
      ),
      (#"{"about":{"people":[{"handle":{"kind":"custom"}}]}}"#, "about.people[0].handle.value"),
      (#"{"about":{"update":"u"},"id":"no"}"#, "id"),
      (#"{"about":{"update":"u","people":[]}}"#, "about"),
      (#"{"about":{"update":"u"},"expiration":"tomorrow"}"#, "expiration"),
      (#"{"about":{"update":"u"},"defaultChoice":"maybe"}"#, "defaultChoice"),
      (#"{"about":{"update":"u"},"manner":"acknowledge"}"#, "manner"),
    ])
  func invalid(_ text: String, _ path: String) throws {
    #expect { try ask(text) } throws: { ($0 as? InvalidBody)?.path == path }
  }

  @Test("X5: ranges of ages have the names of the Swift module") func ages() {
    let range = AgeRange(
      lower: 13, upper: nil, declaration: .guardianDeclared, controls: [.communicationLimits])
    #expect(
      AgeReply.shared(range).rangeJSON?.text
        == #"{"outcome":"sharing","range":{"activeParentalControls":["communicationLimits"],"#
        + #""declaration":"guardianDeclared","lowerBound":13,"upperBound":null}}"#)
    #expect(AgeReply.declined.rangeJSON?.text == #"{"outcome":"declined"}"#)
  }
}
