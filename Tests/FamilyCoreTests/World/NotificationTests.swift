import FamilyCore
import FamilyModel
import Testing

@Suite struct NotificationTests {
  private var world = World()

  private func kept(_ id: UInt32 = 3) -> [DeviceNotification] {
    world.children[id]!.notifications.all
  }

  private mutating func alerts(_ id: UInt32 = 3) -> [Notice] {
    world.take(id).compactMap {
      if case .alert(let notification) = $0 { notification.notice } else { nil }
    }
  }

  private mutating func decide(_ number: UInt64) {
    let question = World.question(number, Handle("h\(number)", .custom))
    world.ask(question)
    world.guardian(1, .answer(question.id, choice: "approve"))
  }

  @Test("R5: keeps the notice of a decision, with its read state, until dismissed")
  mutating func keeps() {
    decide(1)
    decide(2)
    let notice = Notice.decided(
      World.question(1).id, ChoiceHeader(id: "approve", answer: .approval), by: PersonID(1))
    for id: UInt32 in [3, 4] {
      #expect(kept(id).count == 2 && kept(id)[0].notice == notice)
      #expect(world.children[id]!.notifications.unread == 2)
    }
    world.child(3, .readNotifications)
    #expect(world.children[3]!.notifications.unread == 0)
    #expect(world.children[4]!.notifications.unread == 2)
    world.child(3, .dismissNotification(kept()[0].id))
    #expect(kept().map(\.isRead) == [true])
    world.restoreChild(3, 3)
    #expect(kept().map(\.isRead) == [true])
    world.child(3, .dismissNotification(nil))
    world.restoreChild(3, 3)
    #expect(kept().isEmpty)
  }

  @Test("R5, X2: survives a restart, and alerts once however often the event arrives")
  mutating func once() {
    decide(1)
    #expect(alerts().count == 1)
    for _ in 0..<3 {
      world.restoreChild(3, 3)
      world.connect(3)
      for event in world.log {
        world.child(3, .broadcast(.event(event)))
      }
    }
    #expect(alerts().isEmpty)
    #expect(kept().count == 1)
  }

  @Test("R5: an event that is repeated after its notice was dismissed does not bring it back")
  mutating func dismissed() {
    decide(1)
    world.child(3, .dismissNotification(nil))
    world.restoreChild(3, 3)
    world.connect(3)
    for event in world.log { world.child(3, .broadcast(.event(event))) }
    #expect(kept().isEmpty)
  }

  @Test("R5: keeps withdrawals, messages and reminders; a guardian's device keeps them as well")
  mutating func kinds() {
    decide(1)
    let ada = Handle("h1", .custom)
    world.wait(.milliseconds(1))
    world.guardian(2, .withdraw(child: World.emily, .handle(ada, in: nil)))
    world.wait(.milliseconds(1))
    world.guardian(2, .post(child: World.emily, "Dinner"))
    #expect(kept().count == 3)
    #expect(kept()[1].notice == .withdrawn(.handle(ada, in: nil), by: PersonID(2)))
    // Rosa decided; she is informed about Alex's acts, and Alex about hers.
    let rosa = world.guardians[1]!.notifications.all.map(\.notice)
    #expect(rosa.contains(.withdrawn(.handle(ada, in: nil), by: PersonID(2))))
    func isDecision(_ notice: Notice) -> Bool { if case .decided = notice { true } else { false } }
    #expect(!rosa.contains(where: isDecision))
    #expect(world.guardians[2]!.notifications.all.map(\.notice).contains(where: isDecision))
    world.guardian(1, .readNotifications)
    world.restoreGuardian(1)
    #expect(world.guardians[1]!.notifications.unread == 0)
    world.guardian(1, .dismissNotification(nil))
    #expect(world.guardians[1]!.notifications.all.isEmpty)
  }

  @Test("R5: at the limit the oldest read notification leaves, else the oldest")
  mutating func limit() {
    for number in 0..<Limits.notifications {
      world.guardian(2, .post(child: World.emily, "\(number)"))
    }
    let first = kept()[0].id
    #expect(kept().count == Limits.notifications)
    world.guardian(2, .post(child: World.emily, "one more"))
    #expect(kept().count == Limits.notifications && kept()[0].id != first)
    world.child(3, .readNotifications)
    for _ in 0..<2 { world.guardian(2, .post(child: World.emily, "more")) }
    #expect(kept().count == Limits.notifications)
    #expect(kept().suffix(2).map(\.isRead) == [false, false])
    world.restoreChild(3, 3)
    #expect(kept().count == Limits.notifications)
  }

  @Test("R5: a new device keeps no notices of decisions from before it joined")
  mutating func newcomer() {
    decide(1)
    world.wait(.seconds(1))
    var roster = World.roster
    roster.devices.append(
      Device(
        id: DeviceID(6), person: World.emily, publicKey: .init(repeating: 6, count: 32)))
    world.administrate(.setRoster(roster))
    world.wait(.seconds(1))
    world.restoreChild(6, 3)
    world.connect(6)
    #expect(world.children[6]!.knownHandles(in: World.app).count == 1)
    #expect(kept(6).isEmpty && alerts(6).isEmpty)
    decide(2)
    #expect(kept(6).count == 1)
  }
}
