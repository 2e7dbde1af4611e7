import FamilyCore
import FamilyModel

/// The limits of the queues, which hold at every moment of a run without an adversary.
extension World {
  /// Dispatched events between two checks.
  static let boundsInterval = 128

  func checkBounds() {
    guard adversary == nil else { return }
    for device in devices where device.isRunning {
      for (queue, count, limit) in queues(of: device) {
        bound(count, limit, "the \(queue) of device \(device.plan.id.rawValue)")
      }
    }
    guard relay.isRunning else { return }
    // The relay evicts families after a turn.
    bound(relayMachine.count, scenario.maxFamilies, "the families of the relay")
  }

  private func queues(of device: SimulatedDevice) -> [(String, Int, Int)] {
    let link = device.link
    let outbox = Limits.outbox + Limits.outboxReserve
    var queues = [
      ("outbox", link.pendingCommands.count, outbox),
      ("deferred events", link.deferredCount, Limits.deferredEvents),
    ]
    if let child = device.child {
      queues.append(("notifications", child.notifications.all.count, Limits.notifications))
    }
    if let guardian = device.guardian {
      queues.append(("notifications", guardian.notifications.all.count, Limits.notifications))
    }
    for (child, conversation) in link.conversations {
      let open = conversation.questions.unanswered.count { $0.isOpen(clock(device.clock)) }
      queues.append(("open questions of child \(child.rawValue)", open, Limits.openQuestions))
    }
    return queues
  }

  private func bound(_ count: Int, _ limit: Int, _ what: String) {
    guard count > limit else { return }
    record(.breach("\(what): \(count), and the limit is \(limit)"))
  }
}
