import FamilyModel
public import Foundation

/// A change of the app that is so large that a guardian must agree before the child goes on using it (Q5).
public struct SignificantAppUpdateTopic: QuestionTopic, Hashable {
  /// Identifies the topic.
  public let id: UUID
  /// What changed, in the app's words.
  public var description: String

  /// A change that is described like this.
  public init(description: String) {
    id = UUID()
    self.description = description
  }
}

/// A topic that the guardians' devices know how to show.
protocol ModelTopic: QuestionTopic {
  static var kind: Topic.Kind { get }
  var model: Topic { get }
  init?(_ topic: Topic)
}

extension CommunicationTopic: ModelTopic {
  static var kind: Topic.Kind { .communication }
}

extension SignificantAppUpdateTopic: ModelTopic {
  static var kind: Topic.Kind { .significantUpdate }
  var model: Topic { .significantUpdate(description: description) }

  init?(_ topic: Topic) {
    guard case .significantUpdate(let description) = topic else { return nil }
    self.init(description: description)
  }
}
