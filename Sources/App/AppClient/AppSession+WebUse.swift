package import FamilyModel

/// The use of the web that the app reports.
extension AppSession {
  /// Shows a page of a site or, if `nil`, hides it, from any thread. The device learns the site's time at
  /// least each ``SessionTiming/webUseInterval``, and never the page.
  package nonisolated func show(_ page: UInt64, _ site: Site?) {
    meter.withLock { meter in
      meter.show(page, site, at: pageTime(), isOpen: isOpen)
    }
    Task { await pagesChanged() }
  }

  /// Deletes a part of what the app has reported, from any thread. The deletion is stored soon
  /// after the call, and reaches the device as soon as the device runs.
  package nonisolated func deleteWebUse(_ part: WebHistoryPart) {
    chosenDeletions.withLock { $0.append(part) }
    Task { await reportPages() }
  }

  private nonisolated func isOpen(_ site: Site) -> Bool { access(to: site) == .allow }

  private func pagesChanged() {
    guard meter.withLock({ $0.isCounting }) else {
      pageTimer?.cancel()
      pageTimer = nil
      return reportPages()
    }
    guard pageTimer == nil else { return }
    pageTimer = Task { [weak self, interval = timing.webUseInterval] in
      while (try? await Task.sleep(for: interval)) != nil { await self?.reportPages() }
    }
  }

  /// Reports the time that was counted, and then deletes what the app's code has chosen.
  package func reportPages() {
    let pages = meter.withLock { meter in
      meter.count(at: pageTime(), isOpen: isOpen)
      return meter.take()
    }
    if let pages { step(.useWeb(pages, at: clock())) }
    let deletions = chosenDeletions.withLock { chosen in
      defer { chosen = [] }
      return chosen
    }
    for part in deletions { step(.deleteWebUse(part, at: clock())) }
  }
}
