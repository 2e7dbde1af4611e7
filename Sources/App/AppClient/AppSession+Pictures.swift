package import FamilyModel

/// The setting for sensitive pictures, from a cache that survives restarts, and the check of pictures.
extension AppSession {
  /// The setting for sensitive pictures; `nil` before the device's first answer.
  package nonisolated var safety: CommunicationSafety? { knownSafety.withLock { $0 } }

  /// Requests the setting, and each later change.
  package func requestSafety() { step(.safety) }

  /// Has the device check a picture.
  ///
  /// - Throws: `DeviceProblem` or `CancellationError`, as for a question.
  package func analyze(_ picture: Avatar) async throws -> PictureAnalysis {
    let answer = try await call(.picture) { number in
      .analyze(number &+ firstPicture, picture)
    }
    guard case .analyzed(let analysis) = answer else {
      preconditionFailure("a picture has a verdict")
    }
    return analysis
  }

  /// Makes the setting readable on any thread.
  func publishSafety() {
    guard let machine = opened?.machine else { return }
    knownSafety.withLock { $0 = machine.safety }
  }
}
