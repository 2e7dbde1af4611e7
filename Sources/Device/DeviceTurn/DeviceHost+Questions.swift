import FamilyCore
import FamilyModel
import ZeroMQ

extension DeviceHost {
  /// Whether a connection's question window admits another question.
  var hasQuestions: Bool { connections.values.contains { $0.questionWindow.canAdmit } }

  /// Enqueues a question of the device until its connection's question window admits it.
  func enqueue(_ question: CommandID, of address: DeviceAddress) {
    guard let device = devices[address], device.isReachable else { return }
    connections[device.key]?.questionWindow.enqueue(question, address)
  }

  /// Admits questions while this turn has room, one of each connection at a time.
  func admitQuestions() {
    var hasMore = true
    while room > 0, hasMore {
      hasMore = false
      for key in connections.keys where room > 0 {
        guard let (question, address) = connections[key]!.questionWindow.admit(now: clock.moment)
        else { continue }
        hasMore = true
        room -= 1
        let stepEffects = devices[address]?.step(.admitted(question), clock) ?? []
        let isSent = stepEffects.contains { if case .send = $0 { true } else { false } }
        if !isSent { connections[key]!.questionWindow.release(question) }
        perform(stepEffects, for: address)
      }
    }
  }

  /// Records the commands that the reply answers, which makes room for waiting questions.
  func updateQuestionWindow(of key: [UInt8], with reply: Reply) {
    let now = clock.moment
    switch reply {
    case .accepted(let id, _):
      connections[key]?.questionWindow.answered(id, wasOverloaded: false, now: now)
    case .refused(let id, let problem):
      connections[key]?.questionWindow.answered(
        id, wasOverloaded: problem.code == Problem.overloaded.code, now: now)
    case .page(_, let events, _):
      for event in events {
        connections[key]?.questionWindow.answered(event.command, wasOverloaded: false, now: now)
      }
    default: break
    }
  }
}
