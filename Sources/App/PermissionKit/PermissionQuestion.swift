import FamilyModel
public import Foundation

/// One of the answers that a question offers.
public struct PermissionChoice: Hashable, Codable, Identifiable, Sendable {
  /// What a choice means.
  public enum Answer: String, Hashable, Codable, Sendable {
    /// Permission is given.
    case approval
    /// Permission is refused.
    case denial
  }
  /// Unique in its question.
  public let id: String
  /// What the guardian reads.
  public let title: String
  /// What choosing it means.
  public let answer: Answer
  /// A choice with these parts.
  public init(id: String, title: String, answer: Answer) {
    self.id = id
    self.title = title
    self.answer = answer
  }
  /// The default approval.
  public static let approve = PermissionChoice(Choice.approve)
  /// The default denial.
  public static let decline = PermissionChoice(Choice.decline)

  init(_ choice: Choice) {
    self.init(
      id: choice.id, title: choice.title, answer: choice.answer == .approval ? .approval : .denial)
  }

  var model: Choice {
    Choice(id: id, title: title, answer: answer == .approval ? .approval : .denial)
  }
}

/// A question to a child's guardians.
///
/// It is not thread-safe while it is being set up: change it before it is asked.
public final class PermissionQuestion<Topic: QuestionTopic>: Codable, Identifiable,
  @unchecked Sendable
{
  // Unchecked: as in Apple's framework it is a class with variables; `ask` reads them once.

  /// Identifies the question, in its response too.
  public let id: UUID
  /// What it is about.
  public let topic: Topic
  /// The answers offered; approve and decline, unless others are given.
  public var choices: [PermissionChoice] = [.approve, .decline]
  /// The response where asking is switched off; one of `choices`.
  public var defaultChoice = PermissionChoice.decline
  /// After this nobody can answer.
  public var expirationDate: Date?

  init(topic: Topic, id: UUID = UUID()) {
    self.topic = topic
    self.id = id
  }
}

extension PermissionQuestion where Topic == CommunicationTopic {
  /// A question about one person.
  public convenience init(handle: CommunicationHandle) { self.init(handles: [handle]) }

  /// A question about several people.
  public convenience init(handles: [CommunicationHandle]) {
    self.init(
      communicationTopic: CommunicationTopic(
        personInformation: handles.map { PersonInformation(handle: $0) }))
  }

  /// A question about a topic.
  public convenience init(communicationTopic: CommunicationTopic) {
    self.init(topic: communicationTopic)
  }

  /// A question with an identifier of the app's own, for one that it asks again after a restart.
  public convenience init(communicationTopic: CommunicationTopic, id: UUID) {
    self.init(topic: communicationTopic, id: id)
  }
}

extension PermissionQuestion where Topic == SignificantAppUpdateTopic {
  /// A question whether the child may go on using the app.
  public convenience init(significantAppUpdateTopic: SignificantAppUpdateTopic) {
    self.init(topic: significantAppUpdateTopic)
  }
}

extension PermissionQuestion {
  var model: Question? {
    guard let topic = topic as? any ModelTopic else { return nil }
    return Question(
      id: ID128(bytes: withUnsafeBytes(of: id.uuid) { Array($0) })!, topic: topic.model,
      choices: choices.map(\.model), defaultChoice: defaultChoice.model,
      expiration: expirationDate.map {
        Instant(milliseconds: Int64(clamping: $0.timeIntervalSince1970 * 1_000))
      })
  }

  convenience init?(_ question: Question) {
    guard let type = Topic.self as? any ModelTopic.Type,
      let topic = type.init(question.topic) as? Topic
    else { return nil }
    var id = UUID().uuid
    withUnsafeMutableBytes(of: &id) { $0.copyBytes(from: question.id.bytes) }
    self.init(topic: topic, id: UUID(uuid: id))
    choices = question.choices.map(PermissionChoice.init)
    defaultChoice = PermissionChoice(question.defaultChoice)
    expirationDate = question.expiration.map {
      Date(timeIntervalSince1970: Double($0.milliseconds) / 1_000)
    }
  }

  /// Asks, and tells how it ended.
  func ask(_ manner: AskManner) async throws -> AskOutcome {
    let session = try AskError.session()
    guard let model else { throw AskError.invalidQuestion }
    do throws(Problem) {
      try model.validate(now: session.clock())
    } catch { throw AskError(error) }
    let outcome = await session.ask(model, manner)
    if case .refused(let problem) = outcome { throw AskError(problem) }
    return outcome
  }
}

extension Int64 {
  /// The number without its fraction, or the nearest that there is: an app may give any date.
  fileprivate init(clamping value: Double) {
    self = Int64(exactly: value.rounded(.down)) ?? (value > 0 ? .max : .min)
  }
}

/// A guardian's answer.
public struct PermissionResponse<Topic: QuestionTopic>: Sendable {
  /// The question.
  public let question: PermissionQuestion<Topic>
  /// What was chosen.
  public let choice: PermissionChoice
}
