import FamilyModel
public import Foundation

/// A change of the app that needs a guardian's consent before the child uses the app again.
public struct SignificantAppUpdateTopic: QuestionTopic, Hashable {
  /// A random identifier. The topic of a response has a new one: match responses by their question.
  public let id: UUID
  /// The change in the app's words: 1 to 4,096 bytes of UTF-8.
  public let description: String

  /// Creates a topic. `ask` validates the description, this initializer does not.
  public init(description: String) {
    id = UUID()
    self.description = description
  }
}

/// A topic that guardians' devices can display.
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
