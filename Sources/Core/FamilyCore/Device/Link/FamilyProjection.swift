import FamilyModel

/// The family as one device knows it: the state that the verified events add up to.
struct FamilyProjection: Sendable {
  var roster = Roster()
  /// The devices that the current roster added, or gave other keys; none of the first roster.
  var newDevices: [Device] = []
  var accounts: [PersonID: Account] = [:]
  /// The age settings of each person, and the age answers that apps received.
  var ages: [PersonID: AgeLog] = [:]
  /// The settings of each child.
  var settings: [PersonID: ChildSettings] = [:]
  /// The apps on the devices of each child.
  var apps: [PersonID: AppLists] = [:]
  var conversations: [PersonID: Conversation] = [:]
  /// Where the settled history of the conversations moves; `nil`: the history stays in memory.
  private var storage: (any HistoryStorage)?
  /// The last requests to join, at most ``Limits/invitations``, in order of arrival.
  var joins: [JoinRequest] = []
  var passcodes = Statements<Passcode>()
  /// The owner of every device that was ever in a roster: the events of a removed device keep their
  /// author.
  var owners = SmallMap<DeviceID, PersonID>()
  /// The numbers of all persons that were ever in a roster.
  var formerPersons: Set<UInt32> = []
  /// When each person's account was made: the time of its first event.
  var accountsMade: [PersonID: Instant] = [:]
  /// The number of verified events that this version does not know.
  var newer = 0
  var accountStatements = SmallMap<PersonID, Statements<Account>>()

  /// The family's passcode.
  var passcode: Passcode? { passcodes.current?.value }

  /// The question, if its conversation is one of this device's.
  func question(_ id: QuestionID) -> QuestionState? {
    for child in conversations.keys.sorted() {
      if let state = conversations[child]?.questions[id] { return state }
    }
    return nil
  }

  mutating func setReceipt(_ receipt: Receipt, of child: PersonID) {
    openConversation(of: child)
    conversations[child]!.receipt = receipt
  }

  /// Moves the settled history of all conversations, also of later ones, to a storage.
  mutating func moveHistory(to storage: any HistoryStorage) {
    self.storage = storage
    for child in conversations.keys.sorted() { conversations[child]!.moveHistory(to: storage) }
  }

  private mutating func openConversation(of child: PersonID) {
    guard conversations[child] == nil else { return }
    conversations[child] = Conversation()
    if let storage { conversations[child]!.moveHistory(to: storage) }
  }

  /// Precondition: the event is verified and its content is open.
  mutating func apply(_ event: Event) {
    if event.body.isOpaque { newer += 1 }
    switch event.body {
    case .rosterChanged(let roster):
      let isFirst = self.roster.devices.isEmpty
      newDevices = isFirst ? [] : roster.devices.filter { self.roster.device($0.id) != $0 }
      self.roster = roster
      formerPersons.formUnion(roster.persons.map(\.id.rawValue))
      for device in roster.devices { owners[device.id] = device.person }
    case .accountChanged(let person, .account(let account)):
      // Every birthdate enters the age log, even an outdated one: all devices then drop the same
      // answers.
      if let birthdate = account.birthdate {
        ages[person, default: AgeLog()].add(event, .born(birthdate))
      }
      accountsMade[person] = min(accountsMade[person] ?? event.at, event.at)
      var statements = accountStatements[person] ?? Statements()
      statements.add(account, event.order)
      accountStatements[person] = statements
      accounts[person] = statements.current?.value
    case .ageNoted(let person, .apps(let list)):
      apps[person, default: AppLists()].apply(event, list)
    // DeviceLink keeps the reports in records of their own.
    case .ageNoted(_, .webUse): break
    case .ageNoted(let person, let content):
      ages[person, default: AgeLog()].add(event, .record(content))
    case .ageSet(let person, let content, _):
      let byChild = owners[event.device] == person && roster.person(person)?.role == .child
      ages[person, default: AgeLog()].add(event, .set(content, byChild: byChild))
    case .settingsChanged(let child, let content, _):
      settings[child, default: ChildSettings()].set(content, event.order)
    case .passcodeChanged(let new): passcodes.add(new, event.order)
    case .joinRequested(let join): joins = joins.suffix(Limits.invitations - 1) + [join]
    default:
      guard let child = event.audience.conversationChild else { return }
      openConversation(of: child)
      conversations[child]!.apply(event)
    }
  }
}
