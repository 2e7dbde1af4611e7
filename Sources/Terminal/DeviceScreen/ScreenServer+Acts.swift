import DeviceAgent
import FamilyCore
import FamilyModel
import SiteNames
import SystemClock
import TerminalUI
import Wording

/// Acts of a device's owner.
extension ScreenServer {
  /// Carries out an act on a device. The relay may still refuse the command of an accepted act.
  func carryOut(
    _ act: ScreenAct, on address: DeviceAddress, _ wording: Wording
  ) async throws(ActRefusal) -> ActResult {
    guard let view = await host.view(of: address) else { throw ActRefusal(.deviceAway) }
    switch act {
    case .answerPrompt(let answer): try self.answer(answer, on: address, wording)
    case .explain(let contact):
      return try await explain(contact, on: address, view, wording)
    case .explainAge(let request):
      return try await explainAge(request, on: address, view, wording)
    case .sharing(let sharing): try await share(sharing, on: address, view)
    default:
      if view.isGuardian {
        try await carryOut(guardian: act, on: address, view, wording)
      } else {
        await host.act(try childInput(act, view), on: address)
      }
    }
    return ActResult()
  }

  private func answer(
    _ answer: ScreenAct.AnswerPrompt, on address: DeviceAddress, _ wording: Wording
  ) throws(ActRefusal) {
    guard let open = responder.prompts(of: address).first(where: { $0.id == answer.prompt }) else {
      throw ActRefusal(.unknown)
    }
    guard
      let value = open.answer(
        answer.choice, names: answer.names ?? [], passcode: answer.passcode)
    else { throw ActRefusal(.unknown) }
    if case .passcode = value, let until = open.waitUntil, until > .now {
      let seconds = (until - .now + .milliseconds(999)) / .seconds(1)
      throw ActRefusal(
        .passcodeLocked(retryAfter: until - .now), wording(.tryAgainIn, "\(seconds)"))
    }
    guard responder.answer(open.id, of: address, value) else { throw ActRefusal(.unknown) }
  }

  // MARK: Children and adults

  private func childInput(
    _ act: ScreenAct, _ view: DeviceView
  ) throws(ActRefusal) -> ChildMachine.Input {
    switch act {
    case .post(let post):
      try checkOwn(post.child, view)
      return .post(try checked(post.text))
    case .cancel(let cancel):
      guard let id = QuestionID(code: cancel.question) else { throw ActRefusal(.malformed) }
      return .cancel(id)
    case .readNotices: return .readNotifications
    case .dismissNotice(let dismiss): return .dismissNotification(try notice(dismiss))
    default: throw ActRefusal(.notPermitted)
    }
  }

  private func checkOwn(_ child: UInt32?, _ view: DeviceView) throws(ActRefusal) {
    guard child.map({ PersonID($0) == view.link.personID }) ?? true else {
      throw ActRefusal(.notPermitted)
    }
  }

  private func checked(_ text: String) throws(ActRefusal) -> String {
    guard text.isVisible, text.utf8.count <= Limits.textBytes else { throw ActRefusal(.badText) }
    return text
  }

  private func notice(_ dismiss: ScreenAct.Dismiss) throws(ActRefusal) -> CommandID? {
    guard let code = dismiss.id else { return nil }
    guard let id = CommandID(code: code) else { throw ActRefusal(.malformed) }
    return id
  }

  /// Changes whether apps receive age ranges, of a guardian's child or of the owner.
  private func share(
    _ act: ScreenAct.Sharing, on address: DeviceAddress, _ view: DeviceView
  ) async throws(ActRefusal) {
    guard let sharing = AgeSharing(code: act.sharing) else { throw ActRefusal(.malformed) }
    let person = PersonID(act.child)
    var settings = view.link.age(of: person).settings
    settings.sharing = sharing
    if view.isGuardian {
      try checkChild(act.child, view)
      await host.act(.setAge(person, settings), on: address)
    } else {
      try checkOwn(act.child, view)
      await host.act(ChildMachine.Input.setAge(settings), on: address)
    }
  }

  // MARK: Guardians

  private func carryOut(
    guardian act: ScreenAct, on address: DeviceAddress, _ view: DeviceView, _ wording: Wording
  ) async throws(ActRefusal) {
    if case .decide(let decision) = act {
      return try await decide(decision, on: address, view, wording)
    }
    await host.act(try guardianInput(act, view, wording), on: address)
  }

  private func guardianInput(
    _ act: ScreenAct, _ view: DeviceView, _ wording: Wording
  ) throws(ActRefusal) -> GuardianMachine.Input {
    switch act {
    case .post(let post):
      return .post(child: try checkChild(post.child, view), try checked(post.text))
    case .seen(let seen): return .seen(child: try checkChild(seen.child, view), seq: seen.seq)
    case .limits(let limits):
      return .setLimits(child: try checkChild(limits.child, view), on: limits.on)
    case .withdraw(let contact):
      let child = try checkChild(contact.child, view)
      return .withdraw(child: child, try withdrawal(contact, of: child, view))
    case .contact(let contact):
      let handle = try handle(contact)
      do throws(Problem) { try handle.validate() } catch { throw ActRefusal(error) }
      guard let known = contact.known else { throw ActRefusal(.malformed) }
      return .changeContact(child: try checkChild(contact.child, view), handle, known: known)
    case .passcode(let typed):
      guard Limits.passcodeLength.contains(typed.count) else {
        throw ActRefusal(.badText, wording(.passcodeLength))
      }
      return .choosePasscode(typed)
    case .webRule(let act):
      let child = try checkChild(act.child, view)
      return .changeSettings(
        child, .webRules(try rules(view.link.settings(of: child).webRules, changedBy: act)))
    case .safety(let act):
      guard let setting = CommunicationSafety(code: act.setting) else {
        throw ActRefusal(.malformed)
      }
      return .changeSettings(try checkChild(act.child, view), .communicationSafety(setting))
    case .readNotices: return .readNotifications
    case .dismissNotice(let dismiss): return .dismissNotification(try notice(dismiss))
    default: throw ActRefusal(.notPermitted)
    }
  }

  private func rules(
    _ rules: WebRules, changedBy act: ScreenAct.WebRule
  ) throws(ActRefusal) -> WebRules {
    var rules = rules
    var access: WebAccess?
    if let code = act.access {
      access = WebAccess(code: code)
      guard access != nil else { throw ActRefusal(.malformed) }
    }
    if let host = act.site {
      guard let site = Site(host: host) else { throw ActRefusal(.badText) }
      rules.sites[site] = access
    } else if let access {
      rules.others = access
    } else {
      throw ActRefusal(.malformed)
    }
    do throws(Problem) { try rules.validate() } catch { throw ActRefusal(error) }
    return rules
  }

  @discardableResult
  private func checkChild(_ child: UInt32?, _ view: DeviceView) throws(ActRefusal) -> PersonID {
    guard let child = view.link.roster.children.first(where: { $0.id.rawValue == child }) else {
      throw ActRefusal(.unknown)
    }
    return child.id
  }

  private func handle(_ contact: ScreenAct.Contact) throws(ActRefusal) -> Handle {
    guard let kind = Handle.Kind(code: contact.handleKind) else { throw ActRefusal(.malformed) }
    return Handle(contact.handle, kind)
  }

  /// The withdrawal of a known handle, whose document has no controls.
  private func withdrawal(
    _ contact: ScreenAct.Contact, of child: PersonID, _ view: DeviceView
  ) throws(ActRefusal) -> Withdrawal {
    let named = try handle(contact)
    let conversation = view.link.conversations[child] ?? Conversation()
    let known = KnownHandle.all(in: conversation, at: .now).first {
      $0.handle.kind == named.kind && $0.handle.value.sanitized == named.value
        && $0.app?.rawValue.sanitized == contact.app
    }
    guard let known else { throw ActRefusal(.unknown) }
    return known.withdrawal
  }

  /// Answers a question, or refuses at once if the device knows that it is closed.
  private func decide(
    _ act: ScreenAct.Decide, on address: DeviceAddress, _ view: DeviceView, _ wording: Wording
  ) async throws(ActRefusal) {
    guard let id = QuestionID(code: act.question) else { throw ActRefusal(.malformed) }
    let timeline = timeline(view, wording)
    guard let state = timeline.state(of: id), state.header.choice(act.choice) != nil else {
      throw ActRefusal(.unknown)
    }
    guard state.question != nil else { throw ActRefusal(.missingKey) }
    let card = Card(state)
    guard card.isOpen(.now) else {
      let problem: Problem =
        switch card.phase {
        case .answered: .alreadyAnswered
        case .cancelled: .cancelled
        case .open: .expired
        }
      throw ActRefusal(problem, timeline.outcome(of: card))
    }
    for case .answer(id, _) in view.link.pendingCommands { throw ActRefusal(.alreadyAnswered) }
    let seen = (act.reviewed ?? false) ? (state.header.child, state.seq) : nil
    await host.answer(id, act.choice, seen: seen, on: address)
  }

  // MARK: Explanations

  private func explain(
    _ contact: ScreenAct.Contact, on address: DeviceAddress, _ view: DeviceView, _ wording: Wording
  ) async throws(ActRefusal) -> ActResult {
    let person = try subject(contact.child, view)
    let app = contact.app.map { AppID($0) }
    let explanations = await host.explain(try handle(contact), of: person, in: app, on: address)
    let timeline = timeline(view, wording)
    return ActResult(
      explanations: explanations.map { explanation in
        ActResult.Explanation(
          app: timeline.renderer.name(of: explanation.app),
          sentences: wording.sentences(
            explanation, name: timeline.name, app: timeline.renderer.name(of:),
            time: { timeline.renderer.time($0) }))
      })
  }

  private func explainAge(
    _ request: ScreenAct.ExplainAge, on address: DeviceAddress, _ view: DeviceView,
    _ wording: Wording
  ) async throws(ActRefusal) -> ActResult {
    let person = try subject(request.child, view)
    let explanations = await host.ageExplanations(of: person, on: address)
    let renderer = timeline(view, wording).renderer
    return ActResult(
      explanations: explanations.filter { request.app == nil || $0.app.rawValue == request.app }
        .map {
          ActResult.Explanation(app: renderer.name(of: $0.app), sentences: renderer.texts(of: $0))
        })
  }

  /// The person of an explanation: the owner, or a guardian's child.
  private func subject(_ child: UInt32?, _ view: DeviceView) throws(ActRefusal) -> PersonID {
    if view.isGuardian { return try checkChild(child, view) }
    try checkOwn(child, view)
    return view.link.personID
  }

  private func timeline(_ view: DeviceView, _ wording: Wording) -> Timeline {
    let names = view.appNames(host.configuration.manifests, wording)
    return Timeline(
      link: view.link,
      renderer: Renderer(
        wording, columns: Renderer.minimumColumns, now: .now, appNames: names))
  }
}
