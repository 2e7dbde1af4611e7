import AppClient
public import Dispatch
import Synchronization

/// An observer of the restrictions on this device.
///
/// Objects may be used from any task at the same time.
public final class STScreenTimeConfigurationObserver: Sendable {
  private struct State {
    var configuration: STScreenTimeConfiguration?
    var task: Task<Void, Never>?
  }

  private let updateQueue: DispatchQueue
  private let state = Mutex(State())

  /// Creates an observer that observes nothing yet.
  ///
  /// - Parameter updateQueue: The queue on which ``configuration`` changes.
  public init(updateQueue: DispatchQueue) { self.updateQueue = updateQueue }

  deinit { state.withLock(\.task)?.cancel() }

  /// The last observed configuration; `nil` before the device's first answer.
  ///
  /// An app treats `nil` as a child's device. The answer survives a restart of the app.
  public var configuration: STScreenTimeConfiguration? { state.withLock(\.configuration) }

  /// Starts to observe, unless the observer does so already. Without a device nothing changes.
  public func startObserving() {
    guard let session = try? AppSession.current() else { return }
    state.withLock { state in
      guard state.task == nil else { return }
      state.task = Task { [weak self] in
        let changes = await session.webChanges()
        await session.request([])
        self?.update(session.isWebRestricted)
        for await _ in changes { self?.update(session.isWebRestricted) }
      }
    }
  }

  /// Stops to observe. The last configuration stays.
  public func stopObserving() {
    state.withLock { state in
      state.task?.cancel()
      state.task = nil
    }
  }

  private func update(_ isRestricted: Bool?) {
    guard let isRestricted else { return }
    updateQueue.async { [weak self] in
      self?.state.withLock { state in
        guard state.task != nil,
          state.configuration?.enforcesChildRestrictions != isRestricted
        else { return }
        state.configuration = STScreenTimeConfiguration(enforcesChildRestrictions: isRestricted)
      }
    }
  }
}
