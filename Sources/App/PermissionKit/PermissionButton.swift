public import DeviceConnection

/// A button that asks the guardians, without a user interface of its own.
///
/// In Apple's framework the button is a view. Here the value has a label of any type and an action:
/// draw ``label`` with your toolkit, and call ``press(in:)`` when the person activates it.
///
/// ```swift
/// let button = PermissionButton(question: question) { "Ask to chat" }
/// try await button.press(in: window)
/// ```
public struct PermissionButton<Topic: QuestionTopic, Label> {
  /// The question that the button asks.
  public let question: PermissionQuestion<Topic>
  private let makeLabel: () -> Label
  private let flow: (first: PermissionFlow, report: (Result<PermissionResult, any Error>) -> Void)?

  /// Creates a button that asks about people.
  public init(question: PermissionQuestion<Topic>, label: @escaping () -> Label)
  where Topic == CommunicationTopic {
    (self.question, makeLabel, flow) = (question, label, nil)
  }

  /// Creates a button that asks about a significant update.
  public init(question: PermissionQuestion<Topic>, label: @escaping () -> Label)
  where Topic == SignificantAppUpdateTopic {
    (self.question, makeLabel, flow) = (question, label, nil)
  }

  /// Creates a button that asks about a significant update in a flow, and reports the outcome.
  ///
  /// - Parameters:
  ///   - question: The question.
  ///   - permissionFlow: The first prompt.
  ///   - onPermissionResult: Receives the outcome of each press, or its error.
  ///   - label: Makes the label.
  public init(
    question: PermissionQuestion<Topic>, permissionFlow: PermissionFlow,
    onPermissionResult: @escaping (Result<PermissionResult, any Error>) -> Void,
    label: @escaping () -> Label
  ) where Topic == SignificantAppUpdateTopic {
    (self.question, makeLabel, flow) = (question, label, (permissionFlow, onPermissionResult))
  }

  /// The label. Each read makes a new one.
  public var label: Label { makeLabel() }

  /// Asks the guardians, as a tap on Apple's button does.
  ///
  /// - Parameter anchor: The window of the button.
  /// - Throws: ``AskError``, unless the button reports its outcome to `onPermissionResult`.
  public nonisolated(nonsending) func press(in anchor: some PresentationAnchor) async throws {
    let window = NamedWindow(anchor.windowName)
    guard let flow else {
      _ = try await question.ask(.choose, in: window)
      return
    }
    do {
      let outcome = try await question.ask(flow.first.manner, in: window)
      flow.report(.success(PermissionResult(outcome)))
    } catch { flow.report(.failure(error)) }
  }
}

/// A button that asks about people, without a user interface of its own.
///
/// ``PermissionButton`` is the newer type with the same behaviour.
public struct CommunicationLimitsButton<Label> {
  /// The question that the button asks.
  public let question: PermissionQuestion<CommunicationTopic>
  private let makeLabel: () -> Label

  /// Creates a button.
  public init(question: PermissionQuestion<CommunicationTopic>, label: @escaping () -> Label) {
    (self.question, makeLabel) = (question, label)
  }

  /// The label. Each read makes a new one.
  public var label: Label { makeLabel() }

  /// Asks the guardians, as a tap on Apple's button does.
  ///
  /// - Parameter anchor: The window of the button.
  /// - Throws: ``AskError``
  public nonisolated(nonsending) func press(in anchor: some PresentationAnchor) async throws {
    _ = try await question.ask(.choose, in: NamedWindow(anchor.windowName))
  }
}

/// Asks a question, as a value in the place of SwiftUI's `askPermission` environment value.
public struct AskPermissionAction: Sendable {
  private let window: NamedWindow

  /// Creates the action of an app with one window.
  public init() { window = NamedWindow("") }

  /// Creates the action of a window.
  public init(in anchor: some PresentationAnchor) { window = NamedWindow(anchor.windowName) }

  /// Asks the guardians; see ``AskCenter``.
  ///
  /// - Throws: ``AskError``
  public func callAsFunction<Topic: QuestionTopic>(_ question: PermissionQuestion<Topic>)
    async throws
  {
    _ = try await question.ask(.choose, in: window)
  }
}
