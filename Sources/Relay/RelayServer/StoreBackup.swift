import Foundation
import RelayOperation
import RelayPipeline
import RelayStore
import ZeroMQ

/// A copy of the relay's store that is being made beside its work. Confined to the operator's thread.
struct StoreBackup {
  /// Parts between two syncs of the copy, so that no sync writes more than 64 MB.
  private static let partsPerSync = 64
  /// A pause takes this many times the part before it, so that commits get most of the time.
  private static let pauseFactor = 3
  /// The shortest pause.
  private static let shortestPause = Nanoseconds.milliseconds(1)

  private(set) var state: BackupState
  private let copier: StoreCopier
  /// The bytes that the rest of the copy may take.
  private let room: () -> Int
  private var parts = 0
  /// When the next part is due.
  private(set) var due = MonotonicInstant.now

  init(_ copier: StoreCopier, to path: String, room: @escaping () -> Int) {
    self.copier = copier
    self.room = room
    state = BackupState(id: UUID().uuidString, path: path)
  }

  /// Copies the next part if it is due.
  mutating func advance() {
    let begin = MonotonicInstant.now
    guard state.isUnderWay, due <= begin else { return }
    do {
      let progress = try copier.copyPart(to: state.path, room: room())
      parts += 1
      (state.copied, state.total) = (progress.copied, progress.total)
      if progress.isComplete || parts.isMultiple(of: Self.partsPerSync) { try sync() }
      if progress.isComplete { state.completed = Date().timeIntervalSince1970 }
    } catch {
      let isFull = (error as? StoreError)?.code == .full
      state.failure = isFull ? "the disk has no room for it beside its reserve" : "\(error)"
      unlink(state.path)
    }
    let now = MonotonicInstant.now
    due = now + max(Self.shortestPause, (now - begin) * Self.pauseFactor)
  }

  private func sync() throws {
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: state.path))
    defer { try? file.close() }
    try file.synchronize()
  }
}
