import FamilyCore
package import FamilyModel
import Foundation
import Synchronization

/// The part of the machine's state that the app's code may know about the web.
struct KnownWeb {
  var sites: [Site: SiteAccess] = [:]
  var isRestricted: Bool?
  var isClosed = false

  init() {}
  init(_ machine: AppMachine) {
    sites = machine.visibleSites
    isRestricted = machine.isWebRestricted
    isClosed = machine.isConsentWithdrawn
  }
}

/// The access to sites, from a cache that survives restarts.
extension AppSession {
  /// The cached access to a site at the present time; `nil` before the device has answered about it.
  package nonisolated func access(to site: Site) -> WebAccess? {
    guard let access = web.withLock({ $0.sites[site] }) else { return nil }
    return access.access(at: ends.withLock { $0.time(now: clock()) })
  }

  /// Whether every site is blocked, because a guardian withdrew the consent to the app.
  package nonisolated var isWebClosed: Bool { web.withLock { $0.isClosed } }

  /// Whether guardians' rules restrict the web; `nil` before the device's first answer.
  package nonisolated var isWebRestricted: Bool? { web.withLock { $0.isRestricted } }

  /// Requests the access to sites, or without sites only whether rules restrict the web.
  package func request(_ sites: [Site]) { step(.sites(sites)) }

  /// The access to a site. Waits for the device's answer about a site that the app has not named
  /// before, unless the device is away or refuses the app.
  package func access(requesting site: Site) async -> WebAccess? {
    await untilStarted()
    if let access = access(to: site) { return access }
    step(.sites([site]))
    guard isOpen, opened!.machine.isAnswered else { return nil }
    await waitForAnswer { [self] in access(to: site) != nil }
    return access(to: site)
  }

  /// Makes the access to sites readable on any thread, and reports the change.
  func publishSites() {
    guard let machine = opened?.machine else { return }
    web.withLock { $0 = KnownWeb(machine) }
    resumeAnsweredReaders()
    for watcher in webWatchers.values { watcher.yield() }
  }

  /// One element after each change of the access to sites.
  package func webChanges() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let id = UUID()
    webWatchers[id] = continuation
    continuation.onTermination = { [weak self] _ in Task { await self?.removeWebWatcher(id) } }
    return stream
  }

  private func removeWebWatcher(_ id: UUID) { webWatchers[id] = nil }
}
