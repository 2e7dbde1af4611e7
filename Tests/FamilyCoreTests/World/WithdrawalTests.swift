import FamilyCore
import FamilyModel
import Testing

@Suite struct WithdrawalTests {
  private var world = World()
  private let ada = Handle("ada", .custom)
  private let phone = Handle("+1 555 0100", .phoneNumber)

  private mutating func approve(_ question: Question) {
    world.ask(question)
    world.guardian(1, .answer(question.id, choice: "approve"))
  }

  private func forgotten(_ app: AppID = World.app) -> [[Handle]] {
    (world.seen[3] ?? []).compactMap {
      if case .app(app, .entry(let entry)) = $0, case .forgotten(let handles) = entry.body {
        return handles
      }
      return nil
    }
  }

  @Test("R9, K3: every device forgets a withdrawn handle and informs the app")
  mutating func handle() {
    approve(World.question(1, ada, phone))
    world.guardian(2, .withdraw(child: World.emily, .handle(ada, in: World.app)))
    #expect(forgotten() == [[ada]])
    for id: UInt32 in [3, 4] {
      #expect(world.children[id]!.knownHandles(in: World.app) == [phone.canonical])
    }
    world.guardian(2, .withdraw(child: World.emily, .handle(phone, in: nil)))
    for id: UInt32 in [3, 4] {
      #expect(world.children[id]!.knownHandles(in: World.app).isEmpty)
      #expect(world.children[id]!.knownHandles(in: World.otherApp).isEmpty)
    }
    #expect(world.notices(on: 1).contains(.withdrawn(.handle(ada, in: World.app), by: PersonID(2))))
    #expect(world.notices(on: 4).contains(.withdrawn(.handle(ada, in: World.app), by: PersonID(2))))
  }

  @Test("R9, R6: launches an app that does not run until it acknowledges the withdrawal")
  mutating func launch() {
    approve(World.question(1, ada))
    world.acknowledgeFirst()
    world.child(3, .appGone(World.app, exited: true))
    _ = world.take(3)
    world.guardian(1, .withdraw(child: World.emily, .handle(ada, in: nil)))
    let launch = DeviceEffect.launch(World.app, budget: Timing.launchBudget)
    #expect(world.take(3).contains(launch))
    world.child(3, .appGone(World.app, exited: true))
    world.wait(.seconds(1))
    #expect(world.take(3).contains(launch))
  }

  @Test("R9, X2: a withdrawal survives a restart of the device") mutating func restart() {
    approve(World.question(1, ada))
    world.guardian(1, .withdraw(child: World.emily, .handle(ada, in: World.app)))
    world.restoreChild(3, 3)
    #expect(world.children[3]!.knownHandles(in: World.app).isEmpty)
    // The child may ask again, and a new approval makes the handle known.
    world.connect(3)
    approve(World.question(2, ada))
    #expect(world.children[3]!.knownHandles(in: World.app) == [ada])
  }

  @Test("R9: a withdrawn consent reaches its app") mutating func consent() {
    world.child(3, .app(World.app, .attach(app: World.app, applied: 0)))
    world.guardian(1, .withdraw(child: World.emily, .consent(World.app)))
    let entries = (world.seen[3] ?? []).compactMap { effect in
      if case .app(World.app, .entry(let entry)) = effect {
        entry.body
      } else {
        AppEntry.Body?.none
      }
    }
    #expect(entries == [.consentWithdrawn])
  }

  @Test("R9: only guardians may withdraw an approval") mutating func permission() {
    let command = Command.withdraw(child: World.emily, .withdrawal(.handle(ada, in: nil)))
    #expect(world.command(3, command) == .notPermitted)
    #expect(world.command(5, command) == .notPermitted)
    #expect(world.command(2, command) == nil)
  }
}

@Suite struct AccountTests {
  private var world = World()

  @Test("F4, F6: a guardian adds a child, whose limits are on from the start")
  mutating func addChild() {
    world.guardian(1, .addChild(displayName: "Noah"))
    let child = world.guardians[2]!.link.roster.children.last
    #expect(child?.displayName == "Noah")
    #expect(child?.id == PersonID(5))
    #expect(world.guardians[2]!.link.conversations[PersonID(5)]?.limitsOn ?? true)
    #expect(world.command(3, .addChild(displayName: "Emil")) == .notPermitted)
    #expect(world.command(5, .addChild(displayName: "Emil")) == .notPermitted)
  }

  @Test("F4, F5: a guardian completes and corrects a child's account; the child cannot")
  mutating func birthdate() {
    // A birthdate in the future is refused, so the clock has a present day.
    world = World(isConnected: false)
    world.now = World.november
    for id: UInt32 in [1, 2, 3, 4, 5] { world.connect(id) }
    func account(_ year: Int32) -> Account {
      Account(
        birthdate: Account.Day(year: year, month: 2, day: 29), region: "FR",
        declaration: .guardianDeclared)
    }
    world.guardian(1, .setAccount(World.emily, account(2016)))
    #expect(world.children[4]!.link.accounts[World.emily] == account(2016))
    world.guardian(2, .setAccount(World.emily, account(2012)))
    #expect(world.guardians[1]!.link.accounts[World.emily] == account(2012))
    #expect(world.children[3]!.link.accounts[World.emily] == account(2012))
    #expect(
      world.command(3, .setAccount(World.emily, .account(account(2000)))) == .notPermitted)
    // Guardians cannot set an adult's account; only the administrator can.
    #expect(
      world.command(1, .setAccount(PersonID(4), .account(account(2000)))) == .notPermitted)
    #expect(world.children[5]!.link.accounts[World.emily] == nil)
  }
}
