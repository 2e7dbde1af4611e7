import FamilyCore
import FamilyModel
import SystemClock
import TerminalUI
import Wording

extension ScreenBuilder {
  func child(_ child: FamilyModel.Person) -> Screen.Child {
    let conversation = link.conversations[child.id] ?? Conversation()
    let settings = link.age(of: child.id).settings
    let childSettings = link.settings(of: child.id)
    let name = child.displayName.sanitized
    return Screen.Child(
      person: child.id.rawValue, name: name, limitsOn: link.limitsOn(for: child.id),
      sharing: settings.sharing.code, sharingText: wording(settings.sharing.phrase),
      birthdateText: link.accounts[child.id]?.birthdate.map {
        wording(.birthdateSet, name, $0.iso)
      },
      entries: timeline.entries(of: child.id).suffix(entryLimit).map(entry),
      known: KnownHandle.all(in: conversation, at: renderer.now).map(known),
      ages: (source.ages[child.id] ?? []).map { explanation in
        Screen.Child.Ages(
          app: self.name(of: explanation.app), appID: explanation.app.rawValue.sanitized,
          text: renderer.texts(of: explanation))
      },
      apps: link.apps(of: child.id).map { app in
        let warning = app.listed.isAllowed(by: settings.ceiling) ? nil : wording(.appAboveCeiling)
        let facts = [renderer.rating(of: app), warning, renderer.device(of: app)]
        return Screen.Child.App(
          app: self.name(of: app.listed.app),
          text: facts.compactMap { $0 }.joined(separator: " · "))
      },
      web: link.webReport(of: child.id).suffix(ScreenLimits.webDays).reversed().map(webDay),
      webOthers: childSettings.webRules.others.code, webRules: rules(childSettings.webRules),
      safety: childSettings.communicationSafety.code)
  }

  private func rules(_ rules: WebRules) -> [Screen.Child.WebRule] {
    rules.sites.sorted { $0.key < $1.key }.prefix(ScreenLimits.webRules).map {
      Screen.Child.WebRule(site: $0.key.name, access: $0.value.code)
    }
  }

  private func webDay(_ day: FamilyModel.WebDay) -> Screen.Child.WebDay {
    Screen.Child.WebDay(
      day: day.day.iso, text: Wording.time(day.seconds),
      sites: Array(Renderer.siteLines(day).prefix(ScreenLimits.webSites)),
      isShortened: day.isShortened)
  }

  private func known(_ known: KnownHandle) -> Screen.Child.Known {
    Screen.Child.Known(
      handle: known.handle.value.sanitized, handleKind: known.handle.kind.code,
      app: known.app?.rawValue.sanitized,
      text: known.text(renderer).sanitized, until: known.until?.milliseconds)
  }

  private func entry(_ entry: Entry) -> Screen.Entry {
    let content = content(of: entry)
    let delivery = entry.isMine ? entry.delivery : nil
    // An entry of the outbox has no time of the relay; the command's id has the device's.
    let at = entry.seq == nil ? entry.id.time : entry.at
    return Screen.Entry(
      id: entry.id.uuid.uuidString, seq: entry.seq, at: at.milliseconds,
      author: entry.author.sanitized, isMine: entry.isMine, kind: content.kind,
      text: content.text, question: content.question, delivery: delivery?.code,
      deliveryText: delivery.map { wording($0.phrase) })
  }

  private func content(of entry: Entry) -> (
    kind: String, text: String, question: Screen.Question?
  ) {
    switch entry.body {
    case .text(let text): return ("text", text.sanitizedLines, nil)
    case .question(let card):
      let question = question(card, of: entry.child)
      return ("question", question.sentence, question)
    case .reminder(let id):
      return ("reminder", timeline.prefix(id) + wording(.reminderLine, entry.author), nil)
    case .cancellation(let id):
      return ("cancellation", timeline.prefix(id) + wording(.cancelledLine, entry.author), nil)
    case .decision(let id, let title, _):
      return ("decision", timeline.prefix(id) + wording(.decidedLine, entry.author, title), nil)
    case .inPerson(let card, let title, _):
      let text =
        timeline.prefix(card.header.id) + wording(.inPersonLine, entry.author, title)
      return ("inPerson", text, question(card, of: entry.child))
    case .withdrawal(let withdrawal):
      let subject = withdrawal.subject(renderer)
      return ("withdrawal", wording(withdrawal.phrase, entry.author, subject), nil)
    case .newer: return ("newer", wording(.newerLine, entry.author), nil)
    }
  }

  private func question(_ card: Card, of child: PersonID) -> Screen.Question {
    let (id, app, topic) = (card.header.id, card.header.app, card.question?.topic)
    let sentence = topic.map {
      wording.question(child: timeline.name(child), app: renderer.name(of: app), topic: $0)
    }
    return Screen.Question(
      id: id.uuid.uuidString, number: timeline.state(of: id)?.seq, app: name(of: app),
      appID: app.rawValue.sanitized, kind: (topic?.kind ?? .communication).code,
      sentence: sentence ?? "?", people: people(topic), description: description(topic),
      state: state(of: card), outcome: outcome(of: card, child: child),
      choices: choices(of: card).map { choice in
        .init(id: choice.id, title: renderer.title(choice), answer: choice.answer.code)
      },
      answering: answering(card))
  }

  private func state(of card: Card) -> String {
    switch card.phase {
    case .open: card.isExpired(renderer.now) ? "expired" : "open"
    case .answered: "answered"
    case .cancelled: "cancelled"
    }
  }

  private func outcome(of card: Card, child: PersonID) -> String? {
    switch card.phase {
    case .open: return card.isExpired(renderer.now) ? wording(.expiredLine) : nil
    case .cancelled: return wording(.cancelledLine, timeline.name(child))
    case .answered:
      return timeline.answer(to: card).map { wording(.decidedLine, $0.by, $0.title) }
    }
  }

  /// The choices, by their ids if this device cannot open the question.
  private func choices(of card: Card) -> [Choice] {
    card.question?.choices
      ?? card.header.choices.map { Choice(id: $0.id, title: $0.id, answer: $0.answer) }
  }

  /// The owner's answer that the relay has not acknowledged.
  private func answering(_ card: Card) -> Screen.Question.Answering? {
    for case .answer(card.header.id, let id) in link.pendingCommands {
      let choice = choices(of: card).first { $0.id == id }
      return .init(choice: id, title: choice.map { renderer.title($0) } ?? id)
    }
    return nil
  }
}
