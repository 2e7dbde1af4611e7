@testable import FamilyCore
import FamilyHarness
import FamilyModel
import Testing

/// Apple's table: bounds, declaration, update notice, and the answer of PermissionKit.
private let table: [(SandboxCase, Int32?, Int32?, Account.Declaration, Bool, Answer?)] = [
  (.under13, nil, 12, .guardianPaymentChecked, true, .approval),
  (.ages13To15, 13, 15, .guardianPaymentChecked, true, .approval),
  (.ages16To17, 16, 17, .guardianPaymentChecked, true, .denial),
  (.adultSelfDeclared, 18, nil, .selfDeclared, false, nil),
  (.adultPaymentChecked, 18, nil, .paymentChecked, false, nil),
]

extension World {
  fileprivate mutating func sandbox(_ sandbox: SandboxCase?) {
    var settings = machines.guardians[1]!.link.age(of: World.emily).settings
    settings.sandbox = sandbox
    guardian(1, .setAge(World.emily, settings))
  }
}

@Suite struct AgeSandboxTests {
  @Test("D15: Apple's five cases exactly, on both frameworks", arguments: table.indices)
  func cases(_ index: Int) {
    let (sandbox, lower, upper, declaration, hasNotice, answer) = table[index]
    // The account's own age, region and settings have no effect.
    var world = World.withAccount(
      Account(birthdate: nil, region: "FR", declaration: .selfDeclared))
    world.sandbox(sandbox)
    for gates in [[13, 16], [21], [9]] as [[Int32]] {
      world.askAge(1, gates)
      guard case .shared(let range) = world.ageReply(1) else {
        Issue.record("not shared")
        return
      }
      #expect(range.lower == lower && range.upper == upper && range.declaration == declaration)
      #expect(range.controls.contains(.significantAppChangeApprovalRequired) == hasNotice)
      world.forgetSeen()
    }
    #expect(world.agePrompts().isEmpty && world.ageNotices().isEmpty)
    #expect(world.children[3]!.age.apps.isEmpty)
    world.askAge(2, nil)
    guard case .status(true, let features) = world.ageReply(2) else {
      Issue.record("no status")
      return
    }
    #expect(features.contains(.significantAppChangeRequiresParentalConsent) == hasNotice)
    #expect(!features.contains(.significantAppChangeRequiresAdultNotification))
    let question = World.question(1)
    world.ask(question)
    guard let answer else {
      #expect(
        world.seen[3]!.contains(.app(World.app, .asked(question.id, .refused(.notAChild)))))
      return
    }
    world.wait(.seconds(5))
    guard
      case .answered(let choice, _, _)? = world.children[3]!.conversation?.questions[question.id]?
        .phase
    else {
      Issue.record("not answered")
      return
    }
    #expect(choice.answer == answer)
    let bubbles = (world.seen[1] ?? []).count { if case .bubble = $0 { true } else { false } }
    #expect(bubbles == 0)
  }

  @Test("D15: setting a case answers the questions that are open") func open() {
    var world = World.withAccount()
    let question = World.question(1)
    world.ask(question)
    world.sandbox(.ages16To17)
    world.wait(.seconds(5))
    guard
      case .answered(let choice, _, _)? = world.children[3]!.conversation?.questions[question.id]?
        .phase
    else {
      Issue.record("not answered")
      return
    }
    #expect(choice.answer == .denial)
  }

  @Test("D15: the end of the sandbox restores the account and its answers") func end() {
    var world = World.withAccount()
    world.askAge(1)
    world.answerPrompt(.share)
    let memory = world.children[3]!.age.memory(World.app)
    world.sandbox(.adultSelfDeclared)
    world.askAge(2)
    world.sandbox(nil)
    #expect(world.children[3]!.age.memory(World.app) == memory)
    world.forgetSeen()
    world.askAge(3)
    guard case .shared(let range) = world.ageReply(3) else {
      Issue.record("not shared")
      return
    }
    #expect(range.upper == 15 && range.declaration == .guardianDeclared)
  }

  @Test("D15: the child's own device sets a case only with the passcode") func onTheDevice() {
    var world = World.withAccount()
    var settings = AgeSettings()
    settings.sandbox = .adultSelfDeclared
    world.child(3, .setAge(settings))
    #expect(world.children[3]!.age.settings.sandbox == nil)
    world.guardian(1, .choosePasscode("258013"))
    world.child(3, .setAge(settings))
    world.type("258013")
    for id: UInt32 in [3, 4] {
      #expect(world.children[id]!.age.settings.sandbox == .adultSelfDeclared)
    }
  }

  @Test("D15, T8: guardians' devices answer only in a case that a guardian set")
  func byGuardians() {
    var world = World.withAccount()
    world.guardian(1, .choosePasscode("258013"))
    var settings = AgeSettings()
    settings.sandbox = .under13
    world.child(3, .setAge(settings))
    world.type("258013")
    #expect(world.guardians[1]!.link.age(of: World.emily).settings.sandbox == .under13)
    let question = World.question(1)
    world.ask(question)
    world.wait(.seconds(5))
    #expect(world.phase(question, on: 3) == .open && !world.bubbles(on: 1).isEmpty)
    world.sandbox(.under13)
    world.wait(.seconds(5))
    #expect(world.phase(question, on: 3) != .open)
  }

  @Test("D15: an undeclared app receives nothing in the sandbox, either") func undeclared() {
    var world = World.withAccount()
    world.manifests = [:]
    world.restoreChild(3, 3)
    world.connect(3)
    world.sandbox(.under13)
    world.forgetSeen()
    world.askAge(1)
    #expect(world.ageReply(1) == .failed(.notDeclared))
  }
}
