package import FamilyCore
package import FamilyModel
package import Wording

/// Asks the person whether to share an age range with an app.
struct AgeDialog: Dialog {
  let app: AppID
  let range: AgeRange
  var leaving: DialogResult? { .answer(.cancel) }
  private var buttons: [(phrase: Phrase, answer: PromptAnswer)] {
    [(.shareAge, .share), (.dontShareAge, .dontShare)]
  }

  func opening(_ renderer: Renderer) -> [Row] {
    let wording = renderer.wording
    return [renderer.rule(renderer.name(of: app))]
      + renderer.text(wording(.agePrompt, renderer.name(of: app), wording.ages(range)), .bold)
      + renderer.menu(buttons.map { wording($0.phrase) })
  }

  func label(_ renderer: Renderer) -> String { "1–\(buttons.count) › " }

  mutating func submit(_ line: String, _ renderer: Renderer) -> DialogStep {
    guard let index = index(line, of: buttons.count) else {
      return invalidNumber(renderer, of: buttons.count)
    }
    return .done(.answer(buttons[index].answer))
  }
}

extension Renderer {
  /// The age settings of a person, and what apps learned: the answer, its day, and the next day on
  /// which it can change.
  func ages(of name: String, _ settings: AgeSettings, _ explanations: [AgeExplanation]) -> [Row] {
    var rows = text(wording(.ageSetting, wording(settings.sharing.phrase)), .bold)
    for (app, sharing) in settings.apps.sorted(by: { $0.key < $1.key }) {
      rows += hanging("• ", "\(self.name(of: app)): \(wording(sharing.phrase))")
    }
    if let sandbox = settings.sandbox {
      rows += text(wording(.ageSandbox, sandbox.rawValue), .bad)
    } else if explanations.contains(where: { $0.rule == .requiredByLaw }) {
      rows += text(wording(.ageByLaw))
    }
    if explanations.isEmpty { rows += text(wording(.ageNone, name), .faint) }
    for explanation in explanations {
      let texts = texts(of: explanation)
      rows += hanging("• ", "\(self.name(of: explanation.app)): \(texts[0])")
      if texts.count > 1 {
        rows += text("  " + texts.dropFirst().joined(separator: " · "), .faint)
      }
    }
    return rows
  }

  /// The answer that the app received, then its day and the next day on which it can change.
  package func texts(of explanation: AgeExplanation) -> [String] {
    [
      explanation.range.map(wording.ages) ?? wording(.ageNotShared),
      explanation.answeredOn.map { wording(.ageSince, $0.iso) },
      explanation.changesOn.map { wording(.ageUntil, $0.iso) },
    ].compactMap { $0 }
  }
}

extension AgeSharing {
  /// The phrase that names the setting.
  package var phrase: Phrase {
    switch self {
    case .always: .ageSettingAlways
    case .askFirst: .ageSettingAsk
    case .never: .ageSettingNever
    }
  }
}

/// Asks a guardian for the passcode, hidden, to change age settings on the child's device.
///
/// No passcode is accepted before `until`, which slows guessing down.
struct SettingsPasscodeDialog: Dialog {
  let until: Instant
  let failure: PasscodeFailure?
  var isHidden: Bool { true }

  func opening(_ renderer: Renderer) -> [Row] {
    renderer.text(failure?.text(renderer.wording) ?? renderer.wording(.ageSettingsPrompt), .bold)
      + renderer.menu([(key: "⏎", label: renderer.wording(.cancel))])
  }

  func label(_ renderer: Renderer) -> String {
    let wait = renderer.seconds(until: until)
    return renderer.wording(wait > 0 ? .tryAgainIn : .enterPasscode, "\(wait)") + " › "
  }

  mutating func submit(_ line: String, _ renderer: Renderer) -> DialogStep {
    if line.isEmpty { return .done(.answer(.cancel)) }
    let wait = renderer.seconds(until: until)
    guard wait == 0 else {
      return .more(renderer.text(renderer.wording(.tryAgainIn, "\(wait)"), .bad))
    }
    return .done(.answer(.passcode(line, choice: nil)))
  }
}
