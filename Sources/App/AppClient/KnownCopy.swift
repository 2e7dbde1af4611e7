import FamilyCore
import FamilyModel
package import Foundation

/// The known handles in a file beside the app's store, for processes that wait for the store.
///
/// The process that holds the store replaces the file after each durable change. A process that
/// holds the store itself never reads the file.
package struct KnownCopy: Sendable {
  private struct Content: Codable {
    var process: Int32
    var isConsentWithdrawn: Bool
    /// Milliseconds since 1970: the latest time that the device proved.
    var latest: Int64
    var handles: [Entry]
  }
  private struct Entry: Codable {
    var kind: UInt8
    var value: String
    /// Milliseconds since 1970; `nil` for an approval without an end.
    var end: Int64?
  }

  private let file: URL

  /// The copy in the app's storage folder.
  package init(folder: URL) { file = folder.appendingPathComponent("known.json") }

  func write(_ machine: AppMachine) {
    let content = Content(
      process: ProcessInfo.processInfo.processIdentifier,
      isConsentWithdrawn: machine.isConsentWithdrawn, latest: machine.latestTime.milliseconds,
      handles: machine.visible.sorted().map { handle in
        Entry(
          kind: handle.kind.rawValue, value: handle.value, end: machine.ends[handle]?.milliseconds)
      })
    guard let data = try? JSONEncoder().encode(content) else { return }
    // A failed write leaves the older copy. The store keeps the truth.
    try? data.write(to: file, options: .atomic)
    try? FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
  }

  /// The content, and the process that wrote it; empty without a file.
  func read() -> (known: HandleSet, ends: ApprovalEnds, isConsentWithdrawn: Bool, process: Int32?) {
    guard let data = try? Data(contentsOf: file),
      let content = try? JSONDecoder().decode(Content.self, from: data)
    else { return (HandleSet(), ApprovalEnds(), false, nil) }
    var known = HandleSet()
    var ends: [Handle: Instant] = [:]
    for entry in content.handles {
      guard let kind = Handle.Kind(rawValue: entry.kind) else { continue }
      let handle = Handle(entry.value, kind)
      known.insert(handle)
      ends[handle] = entry.end.map { Instant(milliseconds: $0) }
    }
    let latest = Instant(milliseconds: content.latest)
    return (
      known, ApprovalEnds(ends: ends, latest: latest), content.isConsentWithdrawn, content.process
    )
  }
}
