package import FamilyModel
package import Foundation
import SystemClock

/// The body of a request that asks the guardians.
package struct AskBody {
  package var question: Question
  package var manner = AskManner.choose
  package var window = ""

  /// - Parameter newID: The question's identifier where the body names none.
  /// - Throws: `InvalidBody`. The question itself is not validated.
  package init(_ body: JSONValue, newID: UUID) throws(InvalidBody) {
    let members = try JSONReader(body).object(
      "id", "about", "choices", "defaultChoice", "expiration", "manner", "window")
    var id = newID
    if let member = members.optional("id") {
      guard let uuid = UUID(uuidString: try member.string()) else {
        throw member.invalid("not a UUID")
      }
      id = uuid
    }
    question = Question(id: ID128(id), topic: try Topic(members.required("about")))
    if let member = members.optional("choices") {
      var choices: [Choice] = []
      for choice in try member.array(1...Limits.choices) { choices.append(try Choice(choice)) }
      question.choices = choices
    }
    let name = members.optional("defaultChoice")
    let wanted = try name?.string() ?? Choice.decline.id
    guard let choice = question.choices.first(where: { $0.id == wanted }) else {
      throw name?.invalid("none of the choices")
        ?? InvalidBody(path: "defaultChoice", reason: "missing: no choice has the id decline")
    }
    question.defaultChoice = choice
    question.expiration = try members.optional("expiration").map { reader throws(InvalidBody) in
      Instant(try reader.time())
    }
    if let member = members.optional("manner") {
      manner = try member.one(of: [
        "choose": .choose, "byMessage": .byMessage, "inPerson": .inPerson,
      ])
    }
    window = try Self.window(members)
  }

  /// The name of the app's window.
  package static func window(_ members: JSONMembers) throws(InvalidBody) -> String {
    guard let member = members.optional("window") else { return "" }
    let name = try member.string()
    guard name.utf8.count <= Limits.windowBytes else {
      throw member.invalid("longer than \(Limits.windowBytes) bytes")
    }
    return name
  }
}

extension AskOutcome {
  /// The reply to a request that asked a question; `nil` for a refusal.
  package func json(of question: QuestionID) -> JSONValue? {
    let id = JSONValue.string(question.uuid.uuidString)
    func reply(_ name: String, _ more: [String: JSONValue] = [:]) -> JSONValue {
      .object(["question": id, "outcome": .string(name)].merging(more) { $1 })
    }
    return switch self {
    case .sent: reply("sent")
    case .cancelled: reply("cancelled")
    case .answeredByDefault: reply("answeredByDefault")
    case .acknowledged: reply("acknowledged")
    case .alreadyAsked(let open):
      reply("alreadyAsked", ["openQuestion": .string(open.uuid.uuidString)])
    case .answeredInPerson(let approved): reply("answeredInPerson", ["approved": .bool(approved)])
    case .refused: nil
    }
  }
}
