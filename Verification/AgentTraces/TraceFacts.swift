package import FamilyModel
import Foundation
package import History
import SystemClock

/// The facts that the traces of agents prove, line by line.
package struct TraceFacts: Sendable {
  /// The outcomes of asking that promise a command.
  private static let sentOutcomes: Set = ["sent", "answered-in-person"]

  private let app: AppID
  private var entries: [AppAddress: [UInt64: QuestionID]] = [:]
  private var registered: Set<AppAddress> = []

  /// Facts about devices with this app.
  package init(app: AppID) { self.app = app }

  /// Forgets the positions of an app whose device lost its state.
  package mutating func forget(_ app: AppAddress) { entries[app] = nil }

  /// The facts of the next line.
  package mutating func facts(of line: TraceLine) -> [Fact] {
    guard let family = line.family, let number = line.device else { return [] }
    let device = DeviceAddress(family: FamilyID(family), device: DeviceID(number))
    let command = line.command.map(ID128.init(_:))
    switch line.step {
    case "issued":
      let entry = OutboxEntry(position: line.position, question: line.about.map(ID128.init(_:)))
      return command.map { [.issued(device, $0, entry)] } ?? []
    case "acknowledged":
      guard let command, let seq = line.seq else { return [] }
      return [.acknowledged(device, command, seq: seq)]
    case "refused-command":
      guard let command, let problem = line.problem else { return [] }
      return [.refused(device, command, Problem(code: problem))]
    case "applied":
      guard let command, let seq = line.seq, let audience = line.audience else { return [] }
      let eventAudience = Audience(rawValue: audience)
      return [
        .received(device, eventAudience, seq: seq),
        .applied(device, eventAudience, seq: seq, command),
      ]
    case "passed":
      guard let seq = line.seq, let audience = line.audience else { return [] }
      let eventAudience = Audience(rawValue: audience)
      return [
        .received(device, eventAudience, seq: seq), .applied(device, eventAudience, seq: seq, nil),
      ]
    case "restored":
      guard let audience = line.audience, let seq = line.seq, let seqs = line.seqs else {
        return []
      }
      return [.restored(device, Audience(rawValue: audience), seqs, cursor: seq)]
    default: return appFacts(of: line, AppAddress(device, app))
    }
  }

  private mutating func appFacts(of line: TraceLine, _ app: AppAddress) -> [Fact] {
    switch line.step {
    case "asked":
      // An app's output does not distinguish a sent question from a cancelled one; the device's
      // trace does.
      guard let id = line.question, Self.sentOutcomes.contains(line.outcome ?? "") else {
        return []
      }
      return [.sent(app, ID128(id))]
    case "app-registered": return registered.insert(app).inserted ? [.registered(app)] : []
    case "app-entry":
      if let position = line.position, let id = line.about {
        entries[app, default: [:]][position] = ID128(id)
      }
      return []
    case "app-settled":
      return (entries[app] ?? [:]).keys.sorted().filter { $0 <= line.position ?? 0 }
        .map { .consumed(app, entries[app]!.removeValue(forKey: $0)!) }
    default: return []
    }
  }
}
