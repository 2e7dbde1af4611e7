import AppClient
import FamilyModel
public import Foundation
import SiteNames

/// The use of the web that this app has reported for the device's owner.
///
/// A deletion takes the time from the reports that guardians read, on all devices. The app
/// stores a deletion soon after the call, and a device that is away learns of the deletion when the device
/// returns. A process that ends at once, or never holds the app's store, may lose the deletion. Guardians
/// see that a day was shortened. The history of other apps stays, and an app cannot read the history. Without
/// a device nothing changes.
///
/// Objects may be used from any task at the same time.
public final class STWebHistory: Sendable {
  /// Creates the history of this app.
  ///
  /// An addition to Apple's API: the device knows the app by its credential.
  public init() {}

  /// Deletes the time of a page's site.
  ///
  /// The device knows no pages: the time of all pages of the site is deleted.
  public func deleteHistory(for url: URL) {
    guard let site = WebPage(url).site else { return }
    delete(.site(site))
  }

  /// Deletes the time of all days that the interval touches.
  public func deleteHistory(during interval: DateInterval) {
    delete(.days(from: Instant(interval.start), through: Instant(interval.end)))
  }

  /// Deletes the time of all sites and days.
  public func deleteAllHistory() { delete(.all) }

  private func delete(_ part: WebHistoryPart) {
    (try? AppSession.current())?.deleteWebUse(part)
  }
}
