import DeviceAgent
import FamilyCore
import FamilyModel
import FamilyTrust
import SystemClock

/// The actions of a crowd's people, drawn at random.
extension AgentHost {
  /// Lets people act on some of the devices.
  func act(_ addresses: some Sequence<DeviceAddress>, _ people: CrowdPeople) {
    var random = IDSource.system
    for address in addresses {
      for input in childInputs(on: address, people, &random) { act(input, on: address) }
      if let input = guardianInput(on: address, &random) { act(input, on: address) }
    }
  }

  // A step copies a machine that another reader holds, so both readers end before the step.

  private func childInputs(
    on address: DeviceAddress, _ people: CrowdPeople, _ random: inout IDSource
  ) -> [ChildMachine.Input] {
    host.devices[address]?.child.map { Self.action(of: $0, people, &random) } ?? []
  }

  private func guardianInput(
    on address: DeviceAddress, _ random: inout IDSource
  ) -> GuardianMachine.Input? {
    host.devices[address]?.guardian.flatMap { Self.action(of: $0, &random) }
  }

  private static func action(
    of child: ChildMachine, _ people: CrowdPeople, _ random: inout IDSource
  ) -> [ChildMachine.Input] {
    let address = child.link.address
    switch Int.random(in: 0..<2_000, using: &random) {
    case ..<800: return people.ask(question(&random), on: address)
    case ..<860:
      let open = child.conversation?.questions.unanswered.last
      return open.map { [.cancel($0.header.id)] } ?? []
    case ..<900: return people.askAge(on: address)
    case ..<910: return people.ask(question(&random, hasPicture: true), on: address)
    case ..<911: return people.ask(question(&random, plan: "person"), on: address)
    case ..<920: return [.shareAgain(CrowdPeople.app)]
    default: return [.post("whispered \(random.next() % 1_000)")]
    }
  }

  private static func question(
    _ random: inout IDSource, plan: String? = nil, hasPicture: Bool = false
  ) -> Question {
    let plans = ["yes", "yes", "yes", "no", "day", "race", "open"]
    let plan = plan ?? plans.randomElement(using: &random)!
    var subject = Subject(handle: Handle("c\(random.next())-\(plan)-x", .custom))
    if hasPicture { subject.avatar = Avatar(mediaType: "image/png", bytes: picture) }
    let topic = Topic.communication(people: [subject], actions: .message)
    let id = ID128(high: random.next(), low: random.next())
    guard plan == "day" else { return Question(id: id, topic: topic) }
    let choices = [Choice(id: "day", title: "All day", answer: .approval), Choice.decline]
    return Question(id: id, topic: topic, choices: choices, defaultChoice: choices[1])
  }

  /// A PNG image of one pixel, with the bytes of a larger one.
  private static let picture: [UInt8] = onePixel + Array(repeating: 0, count: 4_000)
  private static let onePixel: [UInt8] = [
    0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0x0D, 0x49, 0x48, 0x44, 0x52, 0, 0, 0,
    1, 0, 0, 0, 1, 8, 6, 0, 0, 0, 0x1F, 0x15, 0xC4, 0x89, 0, 0, 0, 0x0D, 0x49, 0x44, 0x41, 0x54,
    0x78, 0x9C, 0x63, 0xF8, 0xCF, 0xC0, 0xF0, 0x1F, 0, 5, 0, 1, 0xFF, 0x56, 0xC7, 0x2F, 0x0D, 0, 0,
    0, 0, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82,
  ]

  private static func action(
    of guardian: GuardianMachine, _ random: inout IDSource
  ) -> GuardianMachine.Input? {
    let link = guardian.link
    guard let child = link.roster.children.first?.id else { return nil }
    let friend = Handle("friend\(random.next() % 40)@example.org", .emailAddress)
    let isOn = Bool.random(using: &random)
    switch Int.random(in: 0..<10_000, using: &random) {
    case ..<2_500: return .changeContact(child: child, friend, known: isOn)
    case ..<2_800: return .nameContact(child: child, friend, isOn ? "Mia" : "")
    case ..<3_300: return .withdraw(child: child, .handle(friend, in: isOn ? nil : CrowdPeople.app))
    case ..<3_400:
      let app = CrowdPeople.app
      return .withdraw(child: child, isOn ? .consent(app) : .consentGiven(app))
    case ..<3_600: return .setLimits(child: child, on: isOn)
    case ..<3_700: return .setAccount(child, account(&random))
    case ..<3_800: return .setAge(child, settings(&random))
    case ..<3_850: return .forgetAge(child, CrowdPeople.app)
    case ..<3_870:
      let expires = Instant.now + .minutes(10)
      return .invite(JoinTicket().invitation(for: child, until: expires))
    case ..<3_880: return roster(link)
    case ..<3_881: return .choosePasscode(ChaosCluster.passcode)
    case ..<3_950: return .readNotifications
    default: return .post(child: child, "whispered \(random.next() % 1_000)")
    }
  }

  /// Adds a person to the family, or removes the one that was added last.
  private static func roster(_ link: DeviceLink) -> GuardianMachine.Input {
    let owners = Set(link.roster.devices.map(\.person))
    guard let guest = link.roster.persons.last(where: { !owners.contains($0.id) }) else {
      return .setRoster(link.roster(adding: "Whispered", as: .adult))
    }
    return .setRoster(link.roster(removing: guest.id))
  }

  private static func account(_ random: inout IDSource) -> Account {
    let day = Account.Day(year: 2_012 + Int32(random.next() % 6), month: 5, day: 17)
    return Account(birthdate: day, region: "US-UT", declaration: .guardianDeclared)
  }

  private static func settings(_ random: inout IDSource) -> AgeSettings {
    var settings = AgeSettings()
    settings.sharing = AgeSharing.allCases.randomElement(using: &random)!
    return settings
  }
}
