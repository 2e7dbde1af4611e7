import AppClient
import DeviceConnection
import FamilyModel
public import Foundation
import SystemClock

/// One of the answers that a question offers.
///
/// An approval makes the question's handles known until a guardian withdraws them, or until its
/// ``end``. Without an end the app enforces a title such as “For one hour” by its own means.
public struct PermissionChoice: Hashable, Codable, Identifiable, Sendable {
  /// The meaning of a choice.
  public enum Answer: String, Hashable, Codable, Sendable {
    /// Permission is granted.
    case approval
    /// Permission is refused.
    case denial
  }
  /// The end of an approval. Apple's API has no such type.
  public enum End: Hashable, Codable, Sendable {
    /// The approval ends this long after the guardian's decision: from one second to ten years.
    case after(Duration)
    /// The approval ends at this moment: in the future, and within ten years.
    case at(Date)
  }
  /// An identifier, unique in its question: 1 to 128 bytes of UTF-8.
  public let id: String
  /// The text that the guardian reads: 1 to 256 bytes of UTF-8.
  public let title: String
  /// The meaning of this choice.
  public let answer: Answer
  /// The end of the approval; `nil`: the approval holds until a guardian withdraws it.
  ///
  /// The handles are known until the end on each device, also off line. A clock that is set back does
  /// not move the end. At the end the app forgets the handles as after a withdrawal.
  public let end: End?
  /// Creates a choice. `ask` validates the values, this initializer does not.
  ///
  /// - Parameters:
  ///   - id: An identifier, unique in its question.
  ///   - title: The text that the guardian reads.
  ///   - answer: The meaning of the choice.
  ///   - end: The end of an approval of people; invalid for a denial, and for an update.
  public init(id: String, title: String, answer: Answer, end: End? = nil) {
    self.id = id
    self.title = title
    self.answer = answer
    self.end = end
  }
  /// The default approval.
  public static let approve = PermissionChoice(Choice.approve)
  /// The default denial.
  public static let decline = PermissionChoice(Choice.decline)

  init(_ choice: Choice) {
    self.init(
      id: choice.id, title: choice.title, answer: choice.answer == .approval ? .approval : .denial,
      end: choice.end.map(End.init))
  }

  var model: Choice {
    Choice(
      id: id, title: title, answer: answer == .approval ? .approval : .denial, end: end?.model)
  }
}

extension PermissionChoice.End {
  fileprivate init(_ end: ChoiceEnd) {
    switch end {
    case .after(let duration): self = .after(Duration(duration))
    case .at(let moment):
      self = .at(Date(timeIntervalSince1970: Double(moment.milliseconds) / 1_000))
    }
  }

  fileprivate var model: ChoiceEnd {
    switch self {
    case .after(let duration): .after(Milliseconds(duration))
    case .at(let date): .at(Instant(date))
    }
  }
}

/// A child's question to the guardians.
///
/// A question is not thread-safe. Set its properties before the app asks it, and from one task.
public final class PermissionQuestion<Topic: QuestionTopic>: Codable, Identifiable,
  @unchecked Sendable
{
  // Unchecked because Apple's framework has a class with variables here. `ask` reads them once.

  /// The identifier of the question and of its response.
  public let id: UUID
  /// The subject of the question.
  public let topic: Topic
  /// The answers that the guardian chooses from, 1 to 16 with distinct ids. Default: approve,
  /// decline.
  public var choices: [PermissionChoice] = [.approve, .decline]
  /// The response where no guardian is asked. Precondition: one of ``choices``.
  ///
  /// No guardian is asked about people where communication limits are off, nor about anything where
  /// the person has no family. The choice must deny for an update without a family: `ask` throws
  /// otherwise.
  public var defaultChoice = PermissionChoice.decline
  /// The end of the question, to the millisecond. Later answers are rejected; `nil`: no end.
  ///
  /// An expired question has no response.
  public var expirationDate: Date?

  init(topic: Topic, id: UUID = UUID()) {
    self.topic = topic
    self.id = id
  }
}

extension PermissionQuestion where Topic == CommunicationTopic {
  /// Creates a question about one person.
  public convenience init(handle: CommunicationHandle) { self.init(handles: [handle]) }

  /// Creates a question about 1 to 32 people, whom the guardian approves or declines together.
  public convenience init(handles: [CommunicationHandle]) {
    self.init(
      communicationTopic: CommunicationTopic(
        personInformation: handles.map { PersonInformation(handle: $0) }))
  }

  /// Creates a question about the people of a topic.
  public convenience init(communicationTopic: CommunicationTopic) {
    self.init(topic: communicationTopic)
  }

  /// Creates a question with the app's identifier.
  ///
  /// An app that restarts before `ask` returned asks again with the same identifier: the device
  /// sends one question. Apple's API has no such initializer.
  public convenience init(communicationTopic: CommunicationTopic, id: UUID) {
    self.init(topic: communicationTopic, id: id)
  }
}

extension PermissionQuestion where Topic == SignificantAppUpdateTopic {
  /// Creates a question about the child's further use of the app after an update.
  public convenience init(significantAppUpdateTopic: SignificantAppUpdateTopic) {
    self.init(topic: significantAppUpdateTopic)
  }
}

extension PermissionQuestion {
  var model: Question? {
    guard let topic = topic as? any ModelTopic else { return nil }
    return Question(
      id: ID128(id), topic: topic.model,
      choices: choices.map(\.model), defaultChoice: defaultChoice.model,
      expiration: expirationDate.map(Instant.init))
  }

  convenience init?(_ question: Question) {
    guard let type = Topic.self as? any ModelTopic.Type,
      let topic = type.init(question.topic) as? Topic
    else { return nil }
    self.init(topic: topic, id: UUID(question.id))
    choices = question.choices.map(PermissionChoice.init)
    defaultChoice = PermissionChoice(question.defaultChoice)
    expirationDate = question.expiration.map {
      Date(timeIntervalSince1970: Double($0.milliseconds) / 1_000)
    }
  }

  /// Asks the guardians; returns the outcome on the child's device.
  ///
  /// - Throws: ``AskError``, or `CancellationError`.
  func ask(_ manner: AskManner, in anchor: some PresentationAnchor) async throws -> AskOutcome {
    let window = anchor.shortWindowName
    let session = try AskError.session()
    guard let model else {
      throw AskError.invalidQuestion(
        DeviceProblem(
          .unknownRequest,
          advice: "A question is about a CommunicationTopic or a SignificantAppUpdateTopic."))
    }
    do throws(Problem) {
      try model.validate(now: session.clock())
    } catch { throw AskError(error) }
    let outcome: AskOutcome
    do {
      outcome = try await session.ask(model, manner, in: window)
    } catch let error as CancellationError {
      throw error
    } catch {
      throw AskError.systemError(underlyingError: DeviceProblem(reason: error))
    }
    if case .refused(let problem) = outcome { throw AskError(problem) }
    return outcome
  }
}

/// A guardian's decision, or the default choice where no guardian was asked.
public struct PermissionResponse<Topic: QuestionTopic>: Sendable {
  /// The question as the guardian saw it, with the names that the child edited.
  public let question: PermissionQuestion<Topic>
  /// The guardian's choice.
  public let choice: PermissionChoice
}
