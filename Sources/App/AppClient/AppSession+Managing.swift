package import DeviceConnection
import FamilyCore
package import FamilyModel
import Foundation
import Synchronization

/// The part of the machine's state that concerns the management of the child.
struct ManagingState: Equatable {
  var authorization = AuthorizationState.undetermined
  var stores: [String: ManagedSettings] = [:]
  var planned: [String: PlannedActivity] = [:]

  init() {}
  init(_ machine: AppMachine) {
    (authorization, planned) = (machine.authorization, machine.planned)
    // An empty store waits for the device's answer.
    stores = machine.managed.filter { !$0.value.isEmpty }
  }
}

/// A change of the app's authorization to manage the child.
package enum AuthorizationChange: Hashable, Sendable {
  /// The state has changed.
  case state(AuthorizationState)
  /// A guardian answered the question.
  case answered(QuestionID, isApproved: Bool)
}

/// The app's authorization to manage the child, and its stores of managed settings.
extension AppSession {
  /// The state of the app's authorization.
  package nonisolated var authorization: AuthorizationState {
    managing.withLock { $0.authorization }
  }

  /// The settings of the store with this name, as the app's code chose them.
  package nonisolated func managedSettings(_ name: String) -> ManagedSettings {
    chosen.withLock { $0[name] } ?? managing.withLock { $0.stores[name] } ?? ManagedSettings()
  }

  /// The names of the stores with settings, in order.
  package nonisolated var managedStores: [String] {
    managing.withLock { $0.stores.keys.sorted() }
  }

  /// Changes the settings of the store with this name. Without an authorization, nothing changes.
  package nonisolated func manage(
    _ name: String, _ change: (inout ManagedSettings) -> Void
  ) {
    chosen.withLock { chosen in
      var settings =
        chosen[name] ?? managing.withLock { $0.stores[name] } ?? ManagedSettings()
      change(&settings)
      chosen[name] = settings
    }
    Task { await takeChosen(name) }
  }

  /// Hands the newest settings of a store to the machine.
  func takeChosen(_ name: String) {
    guard let settings = chosen.withLock({ $0[name] }) else { return }
    refusedStores[name] = nil
    step(.manage(name, settings))
    chosen.withLock { chosen in
      if chosen[name] == settings { chosen[name] = nil }
    }
  }

  /// Waits until the device enforces the settings of the store, for at most the limit of a name.
  ///
  /// - Throws: `DeviceProblem` if the device is away or refuses the settings.
  package func confirm(_ name: String) async throws(DeviceProblem) {
    takeChosen(name)
    try await confirm(
      refusal: { [self] in refusedStores[name] },
      isAnswered: { [self] in !unansweredStores.contains(name) })
  }

  /// Records the device's answer about a store.
  func received(_ problem: Problem?, ofStore name: String) {
    unansweredStores.remove(name)
    refusedStores[name] = problem
    resumeAnsweredReaders()
  }

  /// Makes the authorization and the stores readable on any thread, and reports the changes.
  func publishManaging() {
    guard let machine = opened?.machine else { return }
    let new = ManagingState(machine)
    let old = managing.withLock { managing in
      defer { managing = new }
      return managing
    }
    guard old.authorization != new.authorization else { return }
    for watcher in authorizationWatchers.values { watcher.yield(.state(new.authorization)) }
  }

  func report(_ question: QuestionID, isApproved: Bool) {
    publishManaging()
    for watcher in authorizationWatchers.values {
      watcher.yield(.answered(question, isApproved: isApproved))
    }
  }

  /// The changes of the authorization from now on.
  package func authorizationChanges() -> AsyncStream<AuthorizationChange> {
    let (stream, continuation) = AsyncStream<AuthorizationChange>.makeStream()
    let id = UUID()
    authorizationWatchers[id] = continuation
    continuation.onTermination = { [weak self] _ in
      Task { await self?.removeAuthorizationWatcher(id) }
    }
    return stream
  }

  private func removeAuthorizationWatcher(_ id: UUID) { authorizationWatchers[id] = nil }
}
