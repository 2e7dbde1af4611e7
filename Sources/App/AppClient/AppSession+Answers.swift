import DeviceConnection
import FamilyModel
import Foundation

/// A reader that waits for the device's answer about what the app has named.
struct AnswerReader {
  /// Whether the answer has arrived, or will not arrive.
  var isDone: () -> Bool
  var continuation: CheckedContinuation<Void, Never>
}

extension AppSession {
  /// Waits until the device has answered, for at most the limit of a name.
  func waitForAnswer(until isDone: @escaping () -> Bool) async {
    let id = UUID()
    let timeout = Task {
      try? await Task.sleep(for: timing.nameWait, clock: .suspending)
      resumeReader(id)
    }
    defer { timeout.cancel() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        answerReaders[id] = AnswerReader(isDone: isDone, continuation: continuation)
        resumeAnsweredReaders()
      }
    } onCancel: {
      // The end of its sleep resumes the reader.
      timeout.cancel()
    }
  }

  /// Waits until the device has answered about the app's choice, for at most the limit of a name.
  ///
  /// - Parameters:
  ///   - refusal: Returns the problem for which the device refused the choice; `nil` for none.
  ///   - isAnswered: Returns whether the device has answered.
  /// - Throws: `DeviceProblem` if the device is away or refuses the choice.
  func confirm(
    refusal: () -> Problem?, isAnswered: @escaping () -> Bool
  ) async throws(DeviceProblem) {
    if let problem = refusal() { throw DeviceProblem(problem) }
    guard isOpen, opened!.machine.isAnswered else { throw .deviceAway }
    await waitForAnswer(until: isAnswered)
    if let problem = refusal() { throw DeviceProblem(problem) }
    guard isAnswered() else { throw .deviceAway }
  }

  /// Resumes the readers that wait for no answer any more.
  func resumeAnsweredReaders() {
    for (id, reader) in answerReaders where reader.isDone() { resumeReader(id) }
  }

  private func resumeReader(_ id: UUID) {
    answerReaders.removeValue(forKey: id)?.continuation.resume()
  }
}
