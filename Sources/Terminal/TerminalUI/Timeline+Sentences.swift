package import FamilyCore
package import FamilyModel
import Wording

/// Sentences about notices, refusals and closed questions.
extension Timeline {
  private var wording: Wording { renderer.wording }

  /// The notice as a sentence; empty for a notice that no device keeps.
  package func sentence(_ notice: Notice, isGuardian: Bool) -> String {
    switch notice {
    case .decided(let id, let choice, let guardian):
      return prefix(id)
        + wording(
          isGuardian ? .decidedLine : .decidedNotice, name(guardian),
          title(of: choice, in: state(of: id)))
    case .withdrawn(let withdrawal, let guardian):
      return wording(withdrawal.phrase, name(guardian), withdrawal.subject(renderer))
    case .ageShared(let app, let range):
      return wording(.ageSharedNotice, renderer.name(of: app), wording.ages(range))
    case .message(_, let author, _): return wording(.newMessage, name(author))
    case .reminded(let id):
      let child = link.conversations.first { $0.value.questions[id] != nil }?.key
      return prefix(id) + wording(.reminderLine, child.map(name) ?? "?")
    case .ratingsRaised(let child, let risen):
      return wording(.ratingsRaised, name(child), renderer.list(risen))
    case .deviceAdded(let device, let owner):
      return wording(.deviceAdded, name(owner), "\(device.rawValue)")
    case .refused, .noPasscode, .passcodeNotSet, .eventRejected, .historyLost, .unopened,
      .appRejected, .wantsToJoin, .shutOut, .ratingRaised:
      return ""
    }
  }

  /// Why the relay refused a command; `nil` if the reason needs an event that has not arrived yet.
  package func reason(for problem: Problem, of command: Command) -> String? {
    var text = wording(.notDone, "\(problem.code)")
    let state = command.question.flatMap(state)
    switch problem {
    case .alreadyAnswered:
      guard let state else { break }
      guard let answer = answer(to: Card(state)) else { return nil }
      text = wording(.alreadyAnswered, answer.by, answer.title)
    case .expired: text = wording(.expiredLine)
    case .cancelled:
      if let state { text = wording(.cancelledLine, name(state.header.child)) }
    case .noPasscode: text = wording(.noPasscode)
    case .passcodeOutdated: text = wording(.passcodeNotSet)
    case .lastOrganizerDevice: text = wording(.lastOrganizerDevice)
    case .notEnrolled: text = wording(.notInFamily)
    case .badBirthdate:
      if case .setAccount(_, .account(let account)) = command {
        text = wording(.invalidBirthdate, account.birthdate?.iso ?? "")
      }
    case .conflict:
      if case .addChild(let name) = command { text = wording(.nameTaken, name) }
    default: break
    }
    return text
  }

  /// The reason why a closed question cannot be answered.
  package func outcome(of card: Card) -> String {
    if let answer = answer(to: card) {
      return wording(.alreadyAnswered, answer.by, answer.title)
    }
    return card.phase == .cancelled
      ? wording(.cancelledLine, name(card.header.child)) : wording(.expiredLine)
  }

  /// The question in any conversation of this device.
  package func state(of id: QuestionID) -> QuestionState? {
    link.conversations.values.lazy.compactMap { $0.questions[id] }.first
  }
}
