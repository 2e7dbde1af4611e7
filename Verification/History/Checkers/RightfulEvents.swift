import FamilyCore
import FamilyModel

/// The log holds nothing that its author had no right to, and nothing that came too late (Q9, R8, F6).
public struct RightfulEvents: Checker {
  public let name = "nothing without the right to it"
  /// A checker.
  public init() {}

  public func check(_ history: History) -> Verdict {
    var rosters: [FamilyID: Roster] = [:]
    var questions: [FamilyID: [QuestionID: QuestionHeader]] = [:]
    var closed: [FamilyID: Set<QuestionID>] = [:]
    var limitsOff: [FamilyID: Set<PersonID>] = [:]
    for (index, fact) in history.facts {
      guard case .stored(let family, let event) = fact else { continue }
      let author = rosters[family]?.owner(of: event.device)
      func isChild(_ child: PersonID) -> Bool { author?.id == child && author?.role == .child }
      let isGuardian = author?.role.isGuardian ?? false
      let isAdministrator = event.device.rawValue == 0
      let isOpen: (QuestionID) -> Bool = { id in
        guard let header = questions[family]?[id] else { return false }
        return !(closed[family]?.contains(id) ?? false)
          && header.expiration.map { event.at <= $0 } ?? true
      }
      let mayAsk: (QuestionHeader) -> Bool = { header in
        isChild(header.child) && !(limitsOff[family]?.contains(header.child) ?? false)
          && questions[family]?[header.id] == nil
          && header.expiration.map { event.at < $0 } ?? true
      }
      let isRight: Bool
      switch event.body {
      case .rosterChanged(let roster):
        isRight = isAdministrator || isGuardian
        rosters[family] = roster
      case .asked(let header, _):
        isRight = mayAsk(header)
        questions[family, default: [:]][header.id] = header
      case .answeredInPerson(let header, _, _, _):
        isRight = mayAsk(header)
        questions[family, default: [:]][header.id] = header
        closed[family, default: []].insert(header.id)
      case .reminded(let id):
        isRight = isOpen(id) && questions[family]?[id].map { isChild($0.child) } ?? false
      case .cancelled(let id):
        isRight = isOpen(id) && questions[family]?[id].map { isChild($0.child) } ?? false
        closed[family, default: []].insert(id)
      case .decided(let decision):
        isRight = isGuardian && isOpen(decision.question)
        closed[family, default: []].insert(decision.question)
      case .posted(let child, _): isRight = isGuardian || isChild(child)
      case .contactChanged, .withdrawn, .passcodeChanged: isRight = isGuardian
      case .limitsChanged(let child, let on):
        isRight = isGuardian || isAdministrator
        if on {
          limitsOff[family]?.remove(child)
        } else {
          limitsOff[family, default: []].insert(child)
        }
      case .ageNoted(let person, _): isRight = author?.id == person
      case .ageSet(let person, _, _):
        isRight = isGuardian || isAdministrator || author?.id == person
      case .accountChanged(let person, _):
        let isChilds = rosters[family]?.person(person)?.role == .child
        isRight = isAdministrator || (isChilds ? isGuardian : author?.id == person)
      case .invited: isRight = isGuardian
      // A device that is in no family yet; whether it had a code is its proof's to say.
      case .joinRequested: isRight = isAdministrator
      case .keysShared:
        isRight =
          isAdministrator
          || author.map { rosters[family]?.isMember($0, of: event.audience) ?? false } ?? false
      }
      if !isRight { return .violated("event \(event.seq) is not its author's to make", at: index) }
    }
    return .ok
  }
}
