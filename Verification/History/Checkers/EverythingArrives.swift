import FamilyCore
import FamilyModel

/// Checks liveness: after the healing everything arrives.
///
/// - Each issued command is in the log or refused.
/// - Each event is on every device of its audience.
/// - The app that asked has handled each decision.
/// - No work is unfinished.
///
/// Only devices in the family at the end count. A history without `healed` gets no verdict. For a
/// device without recorded events only decisions are checked.
public struct EverythingArrives: Checker {
  public let name = "everything arrives after the healing"
  /// Creates the checker.
  public init() {}

  public func check(_ history: History) -> Verdict {
    let log = StoredLog(history)
    guard log.isRead else { return .unknown("the store was not read at the end") }
    var tally = Tally()
    for (index, fact) in history.facts {
      if case .notConverged(let what) = fact {
        return .violated("not finished: \(what)", at: index)
      }
      tally.add(fact, index)
    }
    guard tally.hasHealed else { return .unknown("the history has no healing") }
    for family in tally.families.union(log.families.keys).sorted() {
      if let missing = FamilyEnd(family, log).missing(tally) {
        return .violated(missing.what, at: missing.index)
      }
    }
    return .ok
  }
}

/// The state and the unfulfilled promises of devices and apps.
private struct Tally {
  struct Sent: Hashable {
    var app: AppAddress
    var question: QuestionID
  }
  var hasHealed = false
  var open: [IssuedCommand: Int] = [:]
  var sent: [Sent: Int] = [:]
  /// The questions that commands of the devices' outboxes ask.
  var asks: [IssuedCommand: QuestionID] = [:]
  /// The questions of refused commands.
  var refused: [DeviceAddress: Set<QuestionID>] = [:]
  var held: [DeviceAddress: [Audience: UInt64]] = [:]
  var shown: [DeviceAddress: Set<QuestionID>] = [:]
  var handled: [AppAddress: Set<QuestionID>] = [:]
  var registered: Set<AppAddress> = []
  var families: Set<FamilyID> { Set(open.keys.map(\.device.family)) }

  mutating func add(_ fact: Fact, _ index: Int) {
    switch fact {
    case .healed: hasHealed = true
    case .issued(let device, let command, let entry):
      let promise = IssuedCommand(device: device, id: command)
      open[promise] = index
      if let question = entry.question { asks[promise] = question }
    case .acknowledged(let device, let command, _):
      open[IssuedCommand(device: device, id: command)] = nil
    case .refused(let device, let command, _):
      let promise = IssuedCommand(device: device, id: command)
      open[promise] = nil
      if let question = asks[promise] {
        refused[device, default: []].insert(question)
      }
    case .lostState(let device):
      open = open.filter { $0.key.device != device }
      sent = sent.filter { $0.key.app.device != device }
      if held[device] != nil { held[device] = [:] }
      shown[device] = nil
    case .restored(let device, let audience, _, let cursor):
      held[device, default: [:]][audience] = cursor
    case .applied(let device, let audience, let seq, _):
      held[device, default: [:]][audience] = seq
    case .decided(let device, let question, _): shown[device, default: []].insert(question)
    case .registered(let app): registered.insert(app)
    case .appLostState(let app): registered.remove(app)
    case .sent(let app, let question): sent[Sent(app: app, question: question)] = index
    case .handled(let app, let question, _): handled[app, default: []].insert(question)
    case .received, .consumed, .names, .knows, .requestedAge, .consented, .ageShared,
      .holdsBirthdate, .remembersAge, .dishonest, .forged, .verified, .breach, .belongs, .signs,
      .approves, .holdsRoster, .holds, .views, .relayViews, .guessed, .guessesReset, .fault,
      .converged, .notConverged, .stored, .storeRead:
      break
    }
  }
}

/// The final state of a family, rebuilt from its log.
private struct FamilyEnd {
  let family: FamilyID
  let heads: [Audience: UInt64]
  let commands: Set<CommandName>
  private let log: StoredLog
  var roster = Roster()
  var headers: [QuestionID: QuestionHeader] = [:]
  /// The questions whose answers an app learns in another way than by a response.
  var withoutResponse: Set<QuestionID> = []
  var decided: [(question: QuestionID, seq: UInt64)] = []

  init(_ family: FamilyID, _ log: StoredLog) {
    self.family = family
    heads = log.chains(family).mapValues { $0.last ?? 0 }
    commands = Set(log.events(family).map { CommandName($0.device, $0.command) })
    self.log = log
    for event in log.counted(family) {
      if case .rosterChanged(let new) = event.body { roster = new }
      if let header = event.body.newQuestion { headers[header.id] = header }
      if case .question(let question)? = event.body.content, !question.topic.kind.hasResponse {
        withoutResponse.insert(question.id)
      }
      if let decision = OneDecision.decision(event) {
        decided.append((decision.question, event.seq))
      }
    }
  }

  /// The first missing item and the history entry that promised it.
  func missing(_ tally: Tally) -> (what: String, index: Int?)? {
    for device in roster.devices {
      guard let person = roster.person(device.person) else { continue }
      let address = DeviceAddress(family: family, device: device.id)
      guard log.isJudged(address) else { continue }
      let name = "device \(device.id.rawValue) of family \(family.rawValue)"
      let lost = tally.open.filter {
        $0.key.device == address
          && !commands.contains(CommandName(device.id, $0.key.id))
      }
      if let index = lost.values.min() { return ("\(name) lost a command of its outbox", index) }
      let unasked = tally.sent.filter {
        $0.key.app.device == address && headers[$0.key.question] == nil
          && !(tally.refused[address]?.contains($0.key.question) ?? false)
      }
      if let index = unasked.values.min() { return ("\(name) lost a question", index) }
      if let held = tally.held[address] {
        for audience in roster.audiences(of: person)
        where (held[audience] ?? 0) < heads[audience] ?? 0 {
          return ("\(name) lacks event \(heads[audience] ?? 0)", nil)
        }
      }
      if let what = lacking(address, person, tally) { return ("\(name) \(what)", nil) }
    }
    return nil
  }

  private func lacking(_ device: DeviceAddress, _ person: Person, _ tally: Tally) -> String? {
    for (question, seq) in decided {
      guard let header = headers[question],
        roster.isMember(person, of: .conversation(header.child))
      else { continue }
      let holds = (tally.held[device]?[.conversation(header.child)] ?? 0) >= seq
      if !holds, !(tally.shown[device]?.contains(question) ?? false) { return "lacks a decision" }
      let app = AppAddress(device, header.app)
      if person.id == header.child, tally.registered.contains(app),
        !withoutResponse.contains(question),
        !(tally.handled[app]?.contains(question) ?? false)
      {
        return "has an app that lacks a response"
      }
    }
    return nil
  }
}
