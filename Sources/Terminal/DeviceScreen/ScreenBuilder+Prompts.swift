import FamilyCore
import FamilyModel
import TerminalUI
import Wording

extension ScreenBuilder {
  private typealias Buttons = [(id: String, title: String)]

  func prompt(_ open: OpenPrompt) -> Screen.Prompt {
    var prompt: Screen.Prompt
    switch open.prompt {
    case .permission(let app, let question):
      let inPerson: Buttons =
        link.passcode == nil ? [] : [("approveInPerson", wording(.approveInPerson))]
      prompt = self.prompt("permission", app, question, renderer.request(question, app))
      prompt.choices = buttons([("askByMessage", wording(.askByMessage))] + inPerson)
    case .compose(let app, let question, let guardians):
      let child = source.view.name
      let sentence = wording.question(
        child: child, app: renderer.name(of: app), topic: question.topic)
      prompt = self.prompt("compose", app, question, sentence)
      prompt.to = wording(.composeTo, wording.list(guardians.map(\.displayName)))
      prompt.fields = question.topic.handles.enumerated().map { index, handle in
        Screen.Prompt.Field(id: index, label: wording(.addName, handle.value), value: "")
      }
      prompt.choices = buttons([("send", wording(.send))])
    case .alreadyAsked(let app, let question, let mayRemind):
      prompt = self.prompt("alreadyAsked", app, question, renderer.alreadyAsked(question, app))
      prompt.choices = buttons(
        mayRemind ? [("remind", wording(.remind))] : [], cancel: wording(.leaveIt))
    case .passcode(let app, let question, _, let failure):
      prompt = self.prompt("passcode", app, question, wording(.approveInPerson))
      prompt.lines = [wording(.enterPasscode)]
      prompt.failure = failure?.text(wording)
      prompt.choices = buttons(question.choices.map { ($0.id, renderer.title($0)) })
    case .acknowledge(let app, let question):
      let text = renderer.request(question, app, update: .updateNotice)
      prompt = self.prompt("acknowledge", app, question, text)
      prompt.choices = buttons([("acknowledge", wording(.acknowledge))])
    case .ageRange(let app, let range):
      let text = wording(.agePrompt, renderer.name(of: app), wording.ages(range))
      prompt = self.prompt("ageRange", app, nil, text)
      prompt.choices = buttons([
        ("share", wording(.shareAge)), ("dontShare", wording(.dontShareAge)),
      ])
    case .ageSettings(_, _, let failure):
      prompt = self.prompt("ageSettings", nil, nil, wording(.ageSettingsPrompt))
      prompt.lines = [wording(.enterPasscode)]
      prompt.failure = failure?.text(wording)
      prompt.choices = buttons([("confirm", wording(.confirm))])
    }
    prompt.id = open.id
    prompt.window = open.window.sanitized
    prompt.waitUntil = open.waitUntil?.milliseconds
    return prompt
  }

  private func prompt(
    _ kind: String, _ app: AppID?, _ question: FamilyModel.Question?, _ title: String
  ) -> Screen.Prompt {
    Screen.Prompt(
      id: 0, kind: kind, app: app.map(name(of:)), appID: app?.rawValue.sanitized,
      window: "", title: title, lines: [], to: nil, people: people(question?.topic), fields: [],
      choices: [], failure: nil, waitUntil: nil)
  }

  /// The buttons of a dialog: the first one is the primary one, and the last one cancels.
  private func buttons(_ buttons: Buttons, cancel: String? = nil) -> [Screen.Prompt.Choice] {
    buttons.enumerated().map { index, button in
      Screen.Prompt.Choice(
        id: button.id, title: button.title, role: index == 0 ? "primary" : "secondary")
    } + [.init(id: "cancel", title: cancel ?? wording(.cancel), role: "cancel")]
  }
}
