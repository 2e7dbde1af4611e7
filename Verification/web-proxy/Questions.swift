import Foundation
import ScreenTime
import Synchronization

/// The questions that blocked pages cause.
///
/// A page has many requests. The proxy asks once for each host in a quarter of an hour.
final class Questions: Sendable {
  private struct Browser: PresentationAnchor { let windowName = "Web" }
  /// Hosts at one time. Above: the proxy forgets all of them, and may ask again.
  private static let limit = 256
  private static let interval = Duration.seconds(900)

  private let asked = Mutex<[String: ContinuousClock.Instant]>([:])

  /// Asks about the page's site, unless its host was asked about lately.
  func ask(about page: STWebpageController) {
    guard let host = page.url?.host()?.lowercased() else { return }
    let now = ContinuousClock.now
    let isNew = asked.withLock { asked in
      if let last = asked[host], last.duration(to: now) < Self.interval { return false }
      if asked.count >= Self.limit { asked.removeAll() }
      asked[host] = now
      return true
    }
    guard isNew else { return }
    Task {
      // The child may cancel, and a guardian may have changed the rule.
      _ = try? await page.ask(in: Browser())
    }
  }
}
