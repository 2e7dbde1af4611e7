package import FamilyCore
import Synchronization

/// Hands an opened snapshot over to one device, so that its memory has no other owner.
package final class HandedSnapshot: Sendable {
  private let snapshot: Mutex<OpenedSnapshot?>

  init(_ snapshot: OpenedSnapshot) { self.snapshot = Mutex(snapshot) }

  /// The snapshot at the first call; `nil` afterwards.
  package func take() -> OpenedSnapshot? {
    snapshot.withLock { snapshot in
      defer { snapshot = nil }
      return snapshot
    }
  }
}
