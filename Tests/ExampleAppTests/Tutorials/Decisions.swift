import Foundation
import PermissionKit

/// The decisions that the app has handled.
actor Decisions {
  private(set) var isApproved: [UUID: Bool] = [:]
  private var lastResponse = ContinuousClock.now

  /// Handles responses until the task is cancelled.
  func run() async {
    for await response in CommunicationLimits.current.updates {
      handle(response)
    }
  }

  private func handle(_ response: PermissionResponse<CommunicationTopic>) {
    lastResponse = .now
    // After a crash the device delivers the last response again.
    guard isApproved[response.question.id] == nil else { return }
    isApproved[response.question.id] = response.choice.answer == .approval
  }

  /// Returns when no response has arrived for `duration`.
  func waitUntilIdle(for duration: Duration) async throws {
    while lastResponse.duration(to: .now) < duration {
      try await Task.sleep(for: .milliseconds(50))
    }
  }
}
