import FamilyModel

/// Taking what is believed into what the device knows.
extension DeviceLink {
  /// Takes an event, if it is believed; and what was waiting for it.
  @discardableResult
  mutating func believe(_ event: Event, into out: inout Output) -> Bool {
    guard trust != nil else {
      remember(event)
      out.events.append(event)
      return true
    }
    switch trust!.take(event, question: question) {
    case .aside: return true
    case .bad(let problem):
      out.refused.append(problem)
      return false
    case .good(let opened):
      remember(opened)
      out.events.append(opened)
    }
    var goesOn = !trust!.aside.isEmpty
    while goesOn {
      goesOn = false
      for (event, problem) in trust!.takeAside(question: question) {
        if let problem {
          out.refused.append(problem)
          continue
        }
        remember(event)
        out.events.append(event)
        goesOn = true
      }
    }
    return true
  }

  mutating func remember(_ event: Event) {
    if event.signature != nil { lastTime = max(lastTime, Int64(event.command.high >> 16)) }
    switch event.body {
    case .rosterChanged(let roster):
      self.roster = roster
      lastPerson = max(lastPerson, roster.persons.last?.id ?? lastPerson)
      for device in roster.devices { owners[device.id] = device.person }
    case .accountChanged(let person, .account(let account)):
      // Apps forget what is not true any more, in the order of the log on every device.
      if let birthdate = account.birthdate {
        ages[person, default: AgeLog()].add(event, .born(birthdate))
      }
      guard accountStamps[person].map({ $0 < event.stamp }) ?? true else { return }
      accountStamps[person] = event.stamp
      accounts[person] = account
    case .ageNoted(let person, let content):
      ages[person, default: AgeLog()].add(event, .note(content))
    case .ageSet(let person, let content, _):
      ages[person, default: AgeLog()].add(event, .set(content))
    case .passcodeChanged(let new): passcode = new
    case .joinRequested(let join): joins.append(join)
    default:
      guard let child = event.audience.conversationChild else { return }
      conversations[child, default: Conversation()].apply(event)
    }
  }
}

extension Event.Body {
  /// After it, somebody may lack keys that this device has.
  var mayBringReaders: Bool {
    switch self {
    case .rosterChanged, .keysShared: true
    default: false
    }
  }
}
