import FamilyCore
package import FamilyModel
import Wording

extension Renderer {
  /// A child's use of the web: each day with its time, and the time of each site.
  func web(_ days: [WebDay], of child: String) -> [Row] {
    guard !days.isEmpty else { return text(wording(.webNone, child), .faint) }
    return [rule(wording(.webTitle, child))]
      + days.flatMap { day -> [Row] in
        hanging("• ", "\(day.day.iso) · \(Wording.time(day.seconds))", .bold)
          + Self.siteLines(day).flatMap { hanging("  ", $0, .plain) }
          + (day.isShortened ? hanging("  ", wording(.webShortened), .faint) : [])
      }
  }

  /// The sites of a day with their times, the longest first.
  package static func siteLines(_ day: WebDay) -> [String] {
    day.longestSites.map { "\($0.site.name) · \(Wording.time($0.seconds))" }
  }
}

extension TerminalSession {
  /// Lists the use of the web of the selected child or, on a child's device, of the child.
  func showWeb(_ timeline: Timeline) {
    guard let child = pickedChild else { return }
    write(renderer.web(timeline.link.webReport(of: child.id), of: child.displayName))
  }
}
