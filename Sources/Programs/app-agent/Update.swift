import ArgumentParser
import PermissionKit

struct Update: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Ask the guardians for consent to an update, and wait for their decision.")
  @Argument(help: "The change in the app.")
  var change = "Landmarks has chats with strangers now."

  func run() async throws {
    let question = PermissionQuestion(
      significantAppUpdateTopic: SignificantAppUpdateTopic(description: change))
    let responses = AskCenter.shared.responses(for: SignificantAppUpdateTopic.self)
    let result = try await AskCenter.shared.askSignificantChangePermission(
      for: question, permissionFlow: .askToApprove, in: Window.chats)
    guard result == .askToApprove(didSend: true) else { return print("not asked: \(result)") }
    for await response in responses where response.question.id == question.id {
      return print("consent: \(response.choice.id)")
    }
  }
}
