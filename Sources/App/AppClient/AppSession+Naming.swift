package import FamilyModel
import Foundation
import Synchronization

/// The handles that the app's code names. The device answers about no other.
extension AppSession {
  /// Those of the handles, in canonical form, that are known.
  ///
  /// Waits for the device's answer about handles that the app has not named before, unless the
  /// device is away or refuses the app.
  package nonisolated func known(of handles: [Handle]) async -> [Handle] {
    let new = named.withLock { named in handles.filter { !named.contains($0) } }
    if !new.isEmpty { await name(new) }
    record(answersAbout: handles)
    return handles.filter(isKnown)
  }

  /// Records the handles whose changes are reported from now on.
  package nonisolated func record(answersAbout handles: [Handle]) {
    answered.withLock { answered in for handle in handles { answered.insert(handle) } }
  }

  /// Names the handles, and waits until the device has confirmed them.
  private func name(_ handles: [Handle]) async {
    step(.name(handles))
    guard isOpen else { return await nameForHolder(handles) }
    guard opened!.machine.isAnswered else { return }
    await waitForAnswer { [self] in
      guard let machine = opened?.machine else { return false }
      return !machine.isAnswered || !handles.contains(where: machine.unconfirmed.contains)
    }
  }

  /// Names the handles on behalf of the process that holds the app's store, whose copy then has
  /// those that are known.
  private func nameForHolder(_ handles: [Handle]) async {
    for part in AppRequest.naming(handles) { send(part) }
    named.withLock { named in for handle in handles { named.insert(handle) } }
    try? await Task.sleep(for: timing.startWait, clock: .suspending)
    retryStore()
  }

  private func send(_ request: AppRequest) { connection.assumeIsolated { $0.send(request) } }

  /// Makes the named handles readable on any thread.
  func publishNames() {
    guard let machine = opened?.machine else { return }
    named.withLock { $0 = machine.named }
    resumeAnsweredReaders()
  }
}
