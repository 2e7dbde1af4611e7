import FamilyCore
import FamilyModel
import Wording

extension TerminalSession {
  /// The child to which a guardian's commands apply: the selected one, or the first.
  var pickedChild: Person? {
    let children = timeline?.children ?? []
    return children.first { $0.id == picked } ?? children.first
  }

  func run(_ command: TerminalCommand) async {
    guard let timeline else { return }
    let child = pickedChild
    switch command {
    case .help: write(renderer.help(TerminalCommand.help(isGuardian: isGuardian)))
    case .list: list(timeline)
    case .show: if let child { show(child) }
    case .quit: break
    case .post(let text): await post(text)
    case .cancel(let number):
      if let card = question(number) {
        await host.act(ChildMachine.Input.cancel(card.header.id), on: address)
      }
    case .review(let number):
      if let card = question(number) { await review(card) }
    case .decline(let number):
      if let card = question(number) { await decline(card) }
    case .pictures(let number):
      if let card = question(number) { exportPictures(card) }
    case .children: listChildren()
    case .with(let name):
      guard let found = self.child(name) else { return }
      picked = found.id
      show(found)
    case .limits(let on, let name):
      guard let child = name == nil ? child : self.child(name!) else { return }
      await act(.setLimits(child: child.id, on: on))
    case .contact(let handle, let known):
      do throws(Problem) { try handle.validate() } catch {
        return write(renderer.text(wording(.notDone, "\(error.code)"), .bad))
      }
      if let child { await act(.changeContact(child: child.id, handle, known: known)) }
    case .withdraw: if let child { withdraw(child) }
    case .withdrawConsent(let app):
      if let child { await act(.withdraw(child: child.id, .consent(app))) }
    case .giveConsent(let app):
      if let child { await act(.withdraw(child: child.id, .consentGiven(app))) }
    case .passcode: open(PasscodeDialog())
    case .members: listMembers()
    case .invite(let name): await invite(name)
    case .addMember(let role, let name): await addMember(role, name)
    case .removeMember(let name): await remove(member: name)
    case .removeDevice(let number): await remove(device: number)
    case .addChild(let name): await act(.addChild(displayName: name))
    case .onboard(let name): await onboard(name)
    case .ownBirthdate(let day, let region): await setOwn(day, region: region)
    case .birthdate(let name, let day):
      if let child = self.child(name) { await set(day, of: child) }
    case .age(let sharing, let app):
      await changeAge {
        if let app { $0.apps[app] = sharing } else { $0.sharing = sharing }
      }
    case .ages: await showAges()
    case .apps: showApps(timeline)
    case .web: showWeb(timeline)
    case .sandbox(let sandbox): await changeAge { $0.sandbox = sandbox }
    case .ceiling(let rating): await changeAge { $0.ceiling = rating }
    case .notices: await listNotifications()
    case .dismiss(let number): await dismissNotification(number)
    case .explain(let handle, let app): await explain(handle, in: app)
    case .forgetAge(let app):
      if isGuardian {
        if let child { await act(.forgetAge(child.id, app)) }
      } else {
        await host.act(ChildMachine.Input.shareAgain(app), on: address)
      }
    }
  }

  private func showAges() async {
    guard let link = timeline?.link else { return }
    guard let person = isGuardian ? pickedChild?.id : link.personID else { return }
    let explanations = await host.ageExplanations(of: person, on: address)
    let name = link.roster.person(person)?.displayName ?? view?.name ?? ""
    write(renderer.ages(of: name, link.age(of: person).settings, explanations))
  }

  /// Lists the owner's birthdate, and contacts and open questions of the children.
  private func list(_ timeline: Timeline) {
    if let day = timeline.link.accounts[timeline.link.personID]?.birthdate, timeline.isAdult {
      write(renderer.text(wording(.birthdateSet, view?.name ?? "", day.iso)))
    }
    for child in timeline.children {
      write(renderer.overview(timeline, of: child, numbers: feed.numbers))
    }
  }

  private func changeAge(_ change: (inout AgeSettings) -> Void) async {
    guard let link = timeline?.link else { return }
    guard let person = isGuardian ? pickedChild?.id : link.personID else { return }
    var settings = link.age(of: person).settings
    change(&settings)
    if isGuardian {
      await act(.setAge(person, settings))
    } else {
      await host.act(ChildMachine.Input.setAge(settings), on: address)
    }
  }

  func act(_ input: GuardianMachine.Input) async { await host.act(input, on: address) }

  private func post(_ text: String) async {
    var text = text
    while text.utf8.count > Limits.textBytes { text.removeLast() }
    if isGuardian {
      if let child = pickedChild { await act(.post(child: child.id, text)) }
    } else {
      await host.act(ChildMachine.Input.post(text), on: address)
    }
  }

  // MARK: Questions

  /// The open question with this number, or the only open question; otherwise shows an error.
  private func question(_ number: UInt64?) -> Card? {
    guard let timeline else { return nil }
    let open = timeline.children.flatMap { timeline.openCards(of: $0.id) }
    guard let number else {
      if open.count == 1 { return open[0] }
      write(renderer.text(selectionError(open), .bad))
      return nil
    }
    if let card = open.first(where: { feed.numbers[$0.header.id] == number }) { return card }
    if let id = feed.question(number), let card = closed(id, timeline) {
      write(renderer.text(timeline.outcome(of: card), .bad))
    } else {
      write(renderer.text(selectionError(open), .bad))
    }
    return nil
  }

  private func selectionError(_ open: [Card]) -> String {
    guard !open.isEmpty else { return wording(.noOpenQuestions) }
    let numbers = open.compactMap { feed.numbers[$0.header.id] }.map { "#\($0)" }
    return wording(.chooseRequest, numbers.joined(separator: " "))
  }

  private func closed(_ id: QuestionID, _ timeline: Timeline) -> Card? {
    timeline.link.conversations.values.lazy.compactMap { $0.questions[id] }.first.map(Card.init)
  }

  private func review(_ card: Card) async {
    guard let question = card.question, let child = timeline?.link.roster.person(card.header.child)
    else { return }
    if let seq = timeline?.link.conversations[child.id]?.questions[question.id]?.seq {
      await act(.seen(child: child.id, seq: seq))
    }
    open(
      ReviewDialog(card: card, child: child, titles: question.choices.map { renderer.title($0) }))
  }

  /// Saves the question's pictures as files and shows their paths.
  private func exportPictures(_ card: Card) {
    guard let number = feed.numbers[card.header.id] else { return }
    do {
      let files = try Pictures.write(card, number: number, in: host.configuration.directory)
      write(
        zip(card.pictures, files).flatMap { picture, file in
          renderer.text(renderer.line(of: picture), .faint) + renderer.text(file.path)
        })
    } catch {
      write(renderer.text(wording(.picturesNotSaved), .bad) + renderer.text("\(error)", .faint))
    }
  }

  /// Answers with the question's first denial; a question without a denial opens the review.
  private func decline(_ card: Card) async {
    guard let denial = card.question?.choices.first(where: { $0.answer == .denial }) else {
      return await review(card)
    }
    await act(.answer(card.header.id, choice: denial.id))
  }

  // MARK: Children

  private func show(_ child: Person) {
    guard let timeline else { return }
    let rows = replay(child, timeline)
    write(rows)
  }

  /// The child with this name, or with this number in the list; otherwise shows an error.
  private func child(_ name: String) -> Person? {
    let children = timeline?.children ?? []
    let byName = children.first { $0.displayName.lowercased() == name.lowercased() }
    let byNumber = Int(name).flatMap { children.indices.contains($0 - 1) ? children[$0 - 1] : nil }
    if byName == nil, byNumber == nil {
      showNotFound(name)
      listChildren()
    }
    return byName ?? byNumber
  }

  private func listChildren() {
    write(
      (timeline?.children ?? []).enumerated().flatMap { index, child in
        renderer.hanging(Row("\(index + 1) ", .key), child.displayName)
      })
  }

  private func withdraw(_ child: Person) {
    let conversation = timeline?.link.conversations[child.id] ?? Conversation()
    let known = KnownHandle.all(in: conversation, at: renderer.now)
    guard !known.isEmpty else { return write(renderer.text(wording(.noKnownContacts), .faint)) }
    open(WithdrawDialog(child: child, known: known))
  }
}
