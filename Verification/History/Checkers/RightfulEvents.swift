import FamilyCore
import FamilyModel

/// Checks that each event in the log was within its author's rights and in time when the relay
/// accepted it. No command's id is ahead of the relay's clock, and no removed device returns.
public struct RightfulEvents: Checker {
  public let name = "nothing without the right to it"
  /// Creates the checker.
  public init() {}

  public func check(_ history: History) -> Verdict {
    var families: [FamilyID: RightsModel] = [:]
    for (index, fact) in history.facts {
      guard case .stored(let family, let event) = fact else { continue }
      guard families[family, default: RightsModel()].accept(event) else {
        return .violated("event \(event.seq) exceeds its author's rights", at: index)
      }
    }
    return .ok
  }
}

extension Roster {
  fileprivate var devicesOfOrganizer: [Device] {
    devices.filter { role(of: $0.person) == .organizer }
  }
}

/// The state of a family that decides its members' rights, rebuilt from the log without the
/// product's code.
private struct RightsModel {
  private var roster: Roster?
  private var questions: [QuestionID: QuestionHeader] = [:]
  private var closed: Set<QuestionID> = []
  private var removedKeys: Set<[UInt8]> = []

  /// Checks the event, then applies it.
  ///
  /// - Returns: Whether the event was within its author's rights.
  mutating func accept(_ event: Event) -> Bool {
    defer { apply(event) }
    return isRightful(event)
  }

  private func isRightful(_ event: Event) -> Bool {
    guard event.command.time <= event.at + Limits.idLead else { return false }
    let author = roster?.owner(of: event.device)
    let isGuardian = author?.role.isGuardian ?? false
    let isAdministrator = event.device.rawValue == 0
    func isChild(_ child: PersonID) -> Bool { author?.id == child && author?.role == .child }
    switch event.body {
    case .rosterChanged(let next):
      // Devices name the signer of an event that the administrator sent.
      let isFounder = roster == nil && next.owner(of: event.device)?.role == .organizer
      let hasRemoved = next.devices.contains { removedKeys.contains($0.signingKey) }
      guard !hasRemoved, !next.devices.contains(where: \.hasWeakKey) else { return false }
      if let roster, author?.role != .organizer, !isAdministrator {
        guard roster.devicesOfOrganizer == next.devicesOfOrganizer else { return false }
      }
      return isAdministrator || isGuardian || isFounder
    case .limitsChanged: return isAdministrator || isGuardian
    case .asked(let header, _), .answeredInPerson(let header, _, _, _):
      return isChild(header.child) && mayAsk(header, at: event.at)
    case .reminded(let id), .cancelled(let id):
      return isOpen(id, at: event.at) && questions[id].map { isChild($0.child) } ?? false
    case .decided(let decision): return isGuardian && isOpen(decision.question, at: event.at)
    case .posted(let child, _): return isGuardian || isChild(child)
    case .contactChanged, .withdrawn, .passcodeChanged, .invited, .beat: return isGuardian
    case .ageNoted(let person, _): return author?.id == person
    case .ageSet(let person, _, _): return isGuardian || isAdministrator || author?.id == person
    case .settingsChanged(let child, _, _):
      return isGuardian || isAdministrator || isChild(child)
    case .accountChanged(let person, _):
      let isAccountOfChild = roster?.person(person)?.role == .child
      return isAdministrator || (isAccountOfChild ? isGuardian : author?.id == person)
    // The joining device is in no family yet. Its proof, which the relay checks, stands for the
    // invitation.
    case .joinRequested: return isAdministrator
    case .keysShared, .complained:
      return isAdministrator
        || author.map { roster?.isMember($0, of: event.audience) ?? false } ?? false
    case .opaque(let body):
      return body.isStatement
        && author.map { roster?.isMember($0, of: event.audience) ?? false } ?? false
    }
  }

  private func mayAsk(_ header: QuestionHeader, at now: Instant) -> Bool {
    questions[header.id] == nil && header.expiration.map { now < $0 } ?? true
  }

  private func isOpen(_ id: QuestionID, at now: Instant) -> Bool {
    guard let header = questions[id] else { return false }
    return !closed.contains(id) && header.expiration.map { now <= $0 } ?? true
  }

  private mutating func apply(_ event: Event) {
    switch event.body {
    case .rosterChanged(let new):
      let kept = Set(new.devices.map(\.signingKey))
      let former = roster?.devices.map(\.signingKey) ?? []
      removedKeys.formUnion(former.filter { !$0.isEmpty && !kept.contains($0) })
      roster = new
    case .asked(let header, _): questions[header.id] = header
    case .answeredInPerson(let header, _, _, _):
      questions[header.id] = header
      closed.insert(header.id)
    case .cancelled(let id): closed.insert(id)
    case .decided(let decision): closed.insert(decision.question)
    default: break
    }
  }
}
