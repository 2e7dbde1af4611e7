import FamilyModel

/// The commands in the outbox, by what they ask or share.
extension CommandSender {
  /// The key shares that the relay has not acknowledged.
  var pendingKeyShares: [(audience: Audience, wraps: [KeyWrap])] {
    outbox.pending.compactMap {
      if case .shareKeys(let audience, let wraps) = $0.command { (audience, wraps) } else { nil }
    }
  }

  /// Removes the command that asks a question, unless the relay may have it.
  ///
  /// - Returns: Whether the command was removed. Otherwise the question needs a cancellation.
  mutating func withdrawAsk(of question: QuestionID, into out: inout DeviceLink.Output) -> Bool {
    guard let pending = outbox.ask(of: question), pending.isUnknownToRelay else { return false }
    discard(pending.id, into: &out)
    return true
  }
}

extension Outbox {
  /// The command that asks the question; `nil` without one.
  func ask(of question: QuestionID) -> Pending? {
    pending.first {
      if case .ask(let header, _) = $0.command { header.id == question } else { false }
    }
  }

  /// Whether another command asks the question that the command is about.
  func asksQuestion(of command: Command) -> Bool {
    command.question.map { ask(of: $0) != nil } ?? false
  }
}
