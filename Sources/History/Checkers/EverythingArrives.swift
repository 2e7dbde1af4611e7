import FamilyCore
import FamilyModel

/// After the healing everything arrives (liveness): each promised command is settled, every decision is on
/// every device of its conversation and handled by the app that asked, and nothing is under way any more.
///
/// A history that does not say that it healed gets no verdict.
public struct EverythingArrives: Checker {
  public let name = "everything arrives after the healing"
  /// A checker.
  public init() {}

  private struct Promise: Hashable {
    var device: DeviceAddress
    var command: CommandID
  }

  public func check(_ history: History) -> Verdict {
    let log = StoredLog(history)
    guard log.isRead else { return .unknown("the store was not read at the end") }
    var hasHealed = false
    var open: [Promise: Int] = [:]
    var shown: [DeviceAddress: Set<QuestionID>] = [:]
    var handled: [AppAddress: Set<QuestionID>] = [:]
    var registered: Set<AppAddress> = []
    for (index, fact) in history.facts {
      switch fact {
      case .healed: hasHealed = true
      case .stuck(let what): return .violated("still under way: \(what)", at: index)
      case .issued(let device, let command):
        open[Promise(device: device, command: command)] = index
      case .acknowledged(let device, let command, _), .refused(let device, let command, _):
        open[Promise(device: device, command: command)] = nil
      case .forgot(let device): open = open.filter { $0.key.device != device }
      case .decided(let device, let question, _): shown[device, default: []].insert(question)
      case .registered(let app): registered.insert(app)
      case .handled(let app, let question, _): handled[app, default: []].insert(question)
      default: break
      }
    }
    guard hasHealed else { return .unknown("the history does not say that it healed") }
    for (promise, index) in open.sorted(by: { $0.value < $1.value }) {
      let events = log.events(promise.device.family)
      if !events.contains(where: { $0.command == promise.command }) {
        return .violated(
          "device \(promise.device.device.rawValue) lost a command of its outbox", at: index)
      }
    }
    for family in log.families.keys.sorted() {
      let missing = Self.missing(log.events(family), family, shown, handled, registered)
      if let missing { return .violated(missing, at: nil) }
    }
    return .ok
  }

  private static func missing(
    _ events: [Event], _ family: FamilyID, _ shown: [DeviceAddress: Set<QuestionID>],
    _ handled: [AppAddress: Set<QuestionID>], _ registered: Set<AppAddress>
  ) -> String? {
    var roster = Roster()
    var headers: [QuestionID: QuestionHeader] = [:]
    var decided: [QuestionID] = []
    for event in events {
      if case .rosterChanged(let new) = event.body { roster = new }
      if case .asked(let header, _) = event.body { headers[header.id] = header }
      if case .answeredInPerson(let header, _, _, _) = event.body { headers[header.id] = header }
      if let decision = OneDecision.decision(event) { decided.append(decision.question) }
    }
    for question in decided {
      guard let header = headers[question] else { continue }
      for device in roster.devices {
        guard let person = roster.person(device.person),
          roster.isMember(person, of: .conversation(header.child))
        else { continue }
        let address = DeviceAddress(family: family, device: device.id)
        if !(shown[address]?.contains(question) ?? false) {
          return "device \(device.id.rawValue) of family \(family.rawValue) lacks a decision"
        }
        let app = AppAddress(address, header.app)
        if person.id == header.child, registered.contains(app),
          !(handled[app]?.contains(question) ?? false)
        {
          return
            "the app on device \(device.id.rawValue) of family \(family.rawValue) lacks a response"
        }
      }
    }
    return nil
  }
}
