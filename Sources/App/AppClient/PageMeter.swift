import FamilyModel

/// The time for which an app has shown pages, by a clock that is never set.
///
/// Pages that are shown at the same time count once together, and each counts for its site.
struct PageMeter: Sendable {
  /// The longest time between two readings of the clock that counts. A stopped process shows nothing.
  let longestGap: Duration
  private var shown: [UInt64: Site] = [:]
  private var read = Duration.zero
  private var total = Duration.zero
  private var sites: [Site: Duration] = [:]

  init(longestGap: Duration) { self.longestGap = longestGap }

  /// Whether a page is shown.
  var isCounting: Bool { !shown.isEmpty }

  /// Shows a page of a site or, if `nil`, hides it.
  ///
  /// - Parameter isOpen: Whether the rules open a site. Time of other sites does not count.
  mutating func show(
    _ page: UInt64, _ site: Site?, at now: Duration, isOpen: (Site) -> Bool
  ) {
    count(at: now, isOpen: isOpen)
    shown[page] = site
  }

  /// Counts the time since the last reading of the clock.
  mutating func count(at now: Duration, isOpen: (Site) -> Bool) {
    let passed = min(now - read, longestGap)
    read = now
    let open = Set(shown.values).filter(isOpen)
    guard passed > .zero, !open.isEmpty else { return }
    total += passed
    for site in open where sites[site] != nil || sites.count < Limits.sitesInMessage {
      sites[site, default: .zero] += passed
    }
  }

  /// Takes the whole seconds that were counted; `nil`: less than one.
  mutating func take() -> ShownPages? {
    let seconds = total.components.seconds
    guard seconds > 0 else { return nil }
    total -= .seconds(seconds)
    func counted(_ seconds: Int64) -> UInt32 { min(UInt32(clamping: seconds), WebDay.longest) }
    var pages = ShownPages(seconds: counted(seconds))
    for (site, time) in sites {
      let whole = time.components.seconds
      if whole > 0 { pages.sites[site] = counted(whole) }
      let rest = time - .seconds(whole)
      sites[site] = rest > .zero ? rest : nil
    }
    return pages
  }
}
