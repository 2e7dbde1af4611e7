package import FamilyCore
package import FamilyModel
package import Wording

extension Prompt {
  /// The dialog that shows the prompt, below the name of the app's window.
  func dialog(received now: Instant, in window: String, hasPasscode: Bool = true) -> any Dialog {
    let dialog = dialog(received: now, hasPasscode: hasPasscode)
    return window.isVisible ? WindowDialog(window: window, dialog: dialog) : dialog
  }

  /// The dialog that shows the prompt.
  ///
  /// - Parameter hasPasscode: Whether a guardian can decide in person.
  func dialog(received now: Instant, hasPasscode: Bool = true) -> any Dialog {
    switch self {
    case .permission(let app, let question):
      ChoiceDialog(app: app, question: question, kind: .permission(inPerson: hasPasscode))
    case .compose(_, let question, let guardians):
      ComposeDialog(question: question, guardians: guardians)
    case .alreadyAsked(let app, let question, let mayRemind):
      ChoiceDialog(app: app, question: question, kind: .alreadyAsked(mayRemind: mayRemind))
    case .passcode(let app, let question, let wait, let failure):
      TypePasscodeDialog(app: app, question: question, until: now + wait, failure: failure)
    case .acknowledge(let app, let question):
      ChoiceDialog(app: app, question: question, kind: .acknowledge)
    case .ageRange(let app, let range): AgeDialog(app: app, range: range)
    case .ageSettings(_, let wait, let failure):
      SettingsPasscodeDialog(until: now + wait, failure: failure)
    }
  }
}

extension Renderer {
  /// The people of the question, as a list in a sentence.
  func names(_ question: Question) -> String {
    switch question.topic {
    case .communication(let people, _): wording.list(people.map(wording.person))
    case .significantUpdate, .authorization: ""
    case .browse(let site): site.name
    }
  }

  /// The first prompt's text, about people or about an app's update.
  package func request(
    _ question: Question, _ app: AppID, update: Phrase = .updatePrompt
  ) -> String {
    switch question.topic {
    case .communication: wording(.permissionPrompt, name(of: app), names(question))
    case .significantUpdate(let description):
      wording(update, name(of: app), description.isVisible ? description : "…")
    case .browse(let site): wording(.sitePrompt, name(of: app), site.name)
    case .authorization: wording(.authorizationPrompt, name(of: app))
    }
  }

  /// The text about an open question with the same people or the same update.
  package func alreadyAsked(_ question: Question, _ app: AppID) -> String {
    switch question.topic {
    case .communication: wording(.alreadyAsked, names(question))
    case .significantUpdate: wording(.updateAlreadyAsked, name(of: app))
    case .browse(let site): wording(.siteAlreadyAsked, site.name)
    case .authorization: wording(.authorizationAlreadyAsked, name(of: app))
    }
  }
}

/// A prompt's dialog below the name of the app's window that asked.
struct WindowDialog: Dialog {
  let window: String
  private(set) var dialog: any Dialog

  var isHidden: Bool { dialog.isHidden }

  func opening(_ renderer: Renderer) -> [Row] {
    renderer.text(renderer.wording(.inWindow, window), .faint) + dialog.opening(renderer)
  }

  func label(_ renderer: Renderer) -> String { dialog.label(renderer) }

  mutating func submit(_ line: String, _ renderer: Renderer) -> DialogStep {
    dialog.submit(line, renderer)
  }
}

/// A prompt with buttons: the first prompt, a repeated question, or an app's update.
struct ChoiceDialog: Dialog {
  enum Kind: Hashable {
    case permission(inPerson: Bool)
    case alreadyAsked(mayRemind: Bool)
    case acknowledge
  }
  let app: AppID
  let question: Question
  let kind: Kind
  var leaving: DialogResult? { .answer(.cancel) }

  private var buttons: [(phrase: Phrase, answer: PromptAnswer)] {
    switch kind {
    case .permission(let inPerson):
      [(.askByMessage, .askByMessage)]
        + (inPerson ? [(.approveInPerson, .inPerson)] : []) + [(.cancel, .cancel)]
    case .alreadyAsked(let mayRemind):
      (mayRemind ? [(.remind, .remind)] : []) + [(.leaveIt, .cancel)]
    case .acknowledge: [(.acknowledge, .acknowledge), (.cancel, .cancel)]
    }
  }

  func opening(_ renderer: Renderer) -> [Row] {
    let text =
      switch kind {
      case .permission: renderer.request(question, app)
      case .acknowledge: renderer.request(question, app, update: .updateNotice)
      case .alreadyAsked: renderer.alreadyAsked(question, app)
      }
    return [renderer.rule(renderer.name(of: app))] + renderer.text(text, .bold)
      + renderer.menu(buttons.map { renderer.wording($0.phrase) })
  }

  func label(_ renderer: Renderer) -> String {
    buttons.count == 1 ? "1 › " : "1–\(buttons.count) › "
  }

  mutating func submit(_ line: String, _ renderer: Renderer) -> DialogStep {
    guard let index = index(line, of: buttons.count) else {
      return invalidNumber(renderer, of: buttons.count)
    }
    return .done(.answer(buttons[index].answer))
  }
}

/// The compose sheet: the message to all guardians, in which the child can add names.
struct ComposeDialog: Dialog {
  private(set) var question: Question
  let guardians: [Person]
  /// The names that the child added, in the order of the question's people.
  private var names: [NameParts?]
  /// The index of the person whose name is being typed.
  private var naming: Int?
  /// A name that is being typed may be empty.
  var leaving: DialogResult? { naming == nil ? .answer(.cancel) : nil }

  init(question: Question, guardians: [Person]) {
    self.question = question
    self.guardians = guardians
    names = question.topic.handles.map { _ in nil }
  }

  func opening(_ renderer: Renderer) -> [Row] {
    let to = renderer.wording.list(guardians.map(\.displayName))
    return [renderer.rule(renderer.wording(.composeTo, to))] + sheet(renderer)
  }

  private func sheet(_ renderer: Renderer) -> [Row] {
    let wording = renderer.wording
    let buttons =
      [wording(.send), wording(.cancel)]
      + question.topic.handles.map { wording(.addName, $0.value) }
    return renderer.subjects(question) + renderer.menu(buttons)
  }

  func label(_ renderer: Renderer) -> String {
    guard let naming else { return "1–\(names.count + 2) › " }
    return renderer.wording(.addName, question.topic.handles[naming].value) + " › "
  }

  mutating func submit(_ line: String, _ renderer: Renderer) -> DialogStep {
    if let naming {
      self.naming = nil
      setName(line.trimmingSpaces, of: naming)
      return .more(sheet(renderer))
    }
    switch index(line, of: names.count + 2) {
    case nil: return invalidNumber(renderer, of: names.count + 2)
    case 0?: return .done(.answer(.send(names: names)))
    case 1?: return .done(.answer(.cancel))
    case let index?:
      naming = index - 2
      return .more([])
    }
  }

  /// Sets a person's name; an empty one changes nothing.
  private mutating func setName(_ given: String, of index: Int) {
    guard let name = NameParts(typed: given) else { return }
    switch question.topic {
    case .communication(var people, let actions):
      names[index] = name
      people[index].name = name
      question.topic = .communication(people: people, actions: actions)
    case .significantUpdate, .browse, .authorization: break
    }
  }
}

extension NameParts {
  /// The name that a person typed, shortened to the limit; `nil` for an empty text.
  package init?(typed text: String) {
    let text = text.trimmingSpaces
    guard text.isVisible else { return nil }
    self.init()
    given = text
    while given.utf8.count > Limits.titleBytes { given.removeLast() }
  }
}

extension PasscodeFailure {
  /// The reason why the typed passcode had no effect.
  package func text(_ wording: Wording) -> String {
    switch self {
    case .wrong: wording(.wrongPasscode)
    case .unchecked(.noPasscode): wording(.noPasscode)
    case .unchecked(.passcodeOutdated): wording(.passcodeOutdated)
    case .unchecked(let problem) where problem.retryAfter > .zero: wording(.passcodeLocked)
    case .unchecked: wording(.passcodeNeedsRelay)
    }
  }
}

/// Asks a guardian for the passcode on the child's device, hidden, to decide in person.
struct TypePasscodeDialog: Dialog {
  let app: AppID
  let question: Question
  /// The time before which no passcode is accepted, which slows guessing down.
  let until: Instant
  let failure: PasscodeFailure?
  /// The selected choice; `nil` until the guardian chooses among several approvals.
  private var choice: String?

  init(app: AppID, question: Question, until: Instant, failure: PasscodeFailure?) {
    self.app = app
    self.question = question
    self.until = until
    self.failure = failure
    // With a single approval, typing the passcode approves.
    if question.choices.count(where: { $0.answer == .approval }) == 1 {
      choice = question.choices.first { $0.answer == .approval }?.id
    }
  }

  var isHidden: Bool { choice != nil }
  /// A passcode may consist of spaces.
  var leaving: DialogResult? { isHidden ? nil : .answer(.cancel) }

  func opening(_ renderer: Renderer) -> [Row] {
    var rows = [renderer.rule(renderer.wording(.approveInPerson))]
    rows +=
      failure.map { renderer.text($0.text(renderer.wording), .bad) }
      ?? renderer.subjects(question)
    if choice == nil {
      return rows
        + renderer.menu(question.choices.map { renderer.title($0) } + [renderer.wording(.cancel)])
    }
    return rows + renderer.menu([(key: "⏎", label: renderer.wording(.cancel))])
  }

  func label(_ renderer: Renderer) -> String {
    if choice == nil { return "1–\(question.choices.count + 1) › " }
    let wait = renderer.seconds(until: until)
    return wait > 0
      ? renderer.wording(.tryAgainIn, "\(wait)") + " › " : renderer.wording(.enterPasscode) + " › "
  }

  mutating func submit(_ line: String, _ renderer: Renderer) -> DialogStep {
    if choice == nil {
      let count = question.choices.count
      guard let index = index(line, of: count + 1) else {
        return invalidNumber(renderer, of: count + 1)
      }
      guard index < count else { return .done(.answer(.cancel)) }
      choice = question.choices[index].id
      return .more(
        renderer.text(renderer.title(question.choices[index]), .bold)
          + renderer.menu([(key: "⏎", label: renderer.wording(.cancel))]))
    }
    if line.isEmpty { return .done(.answer(.cancel)) }
    let wait = renderer.seconds(until: until)
    guard wait == 0 else {
      return .more(renderer.text(renderer.wording(.tryAgainIn, "\(wait)"), .bad))
    }
    return .done(.answer(.passcode(line, choice: choice)))
  }
}
