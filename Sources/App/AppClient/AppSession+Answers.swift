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

  /// Resumes the readers that wait for no answer any more.
  func resumeAnsweredReaders() {
    for (id, reader) in answerReaders where reader.isDone() { resumeReader(id) }
  }

  private func resumeReader(_ id: UUID) {
    answerReaders.removeValue(forKey: id)?.continuation.resume()
  }
}
