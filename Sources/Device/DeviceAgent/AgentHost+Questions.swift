import FamilyCore
import FamilyModel
import ZeroMQ

extension AgentHost {
  /// Whether a connection's question window admits another question.
  var hasQuestions: Bool { connections.values.contains { $0.questionWindow.canAdmit } }

  /// Enqueues a question of the device until its connection's question window admits it.
  func enqueue(_ question: CommandID, of address: DeviceAddress) {
    guard let device = devices[address], device.isReachable else { return }
    connection(of: device)?.questionWindow.enqueue(question, address)
  }

  /// Admits up to `room` questions, one of each connection in turn, and reduces `room` by their
  /// number.
  func admit(_ room: inout Int) {
    var hasMore = true
    while room > 0, hasMore {
      hasMore = false
      for connection in connections.values where room > 0 {
        guard let (question, address) = connection.questionWindow.admit(now: MonotonicInstant.now)
        else { continue }
        hasMore = true
        room -= 1
        let stepEffects = devices[address]?.step(.admitted(question), now: .now) ?? []
        let isSent = stepEffects.contains { if case .send = $0 { true } else { false } }
        if !isSent { connection.questionWindow.release(question) }
        perform(stepEffects, for: address)
      }
    }
  }

  /// Records the commands that the reply answers, which makes room for waiting questions.
  func updateQuestionWindow(of connection: RelayConnection, with reply: Reply) {
    let now = MonotonicInstant.now
    switch reply {
    case .accepted(let id, _):
      connection.questionWindow.answered(id, wasOverloaded: false, now: now)
    case .refused(let id, let problem):
      connection.questionWindow.answered(
        id, wasOverloaded: problem.code == Problem.overloaded.code, now: now)
    case .page(_, let events, _):
      for event in events {
        connection.questionWindow.answered(event.command, wasOverloaded: false, now: now)
      }
    default: break
    }
  }
}
