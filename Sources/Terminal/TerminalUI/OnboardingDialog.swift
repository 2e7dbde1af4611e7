import FamilyCore
import FamilyModel
import Wording

/// Guides a guardian through the steps of a child's set-up that are not done.
///
/// Each step ends with a result, so that a step is done even if the guardian leaves the next one.
///
/// - birthdate: typing → (a valid day) confirming → (confirmed) done; confirming → (change) typing.
/// - sharing, device: choosing → (a number) done.
/// - Every state → (an empty line) left.
struct OnboardingDialog: Dialog {
  /// A step's result.
  enum Answer: Hashable, Sendable {
    case birthdate(Account.Day)
    case sharing(AgeSharing)
    case invite
    case later
  }

  let child: Person
  /// The steps that are not done; the first one is asked now.
  let steps: [OnboardingStep]
  /// Whether the dialog begins with its title and the explanation of age ranges.
  let isFirst: Bool
  /// The birthdate to confirm.
  private var typed: Account.Day?

  /// Precondition: `steps` is not empty.
  init(child: Person, steps: [OnboardingStep], isFirst: Bool) {
    self.child = child
    self.steps = steps
    self.isFirst = isFirst
  }

  var leaving: DialogResult? { .onboard(child, nil, next: []) }

  private func buttons(_ wording: Wording) -> [String] {
    switch steps[0] {
    case .birthdate: typed == nil ? [] : [wording(.confirm), wording(.change)]
    case .sharing: [wording(.sharingAlways), wording(.sharingAsk), wording(.sharingNever)]
    case .device: [wording(.showCode), wording(.later)]
    }
  }

  private func question(_ wording: Wording) -> String {
    switch (steps[0], typed) {
    case (.birthdate, let day?): wording(.birthdateSet, child.displayName, day.iso)
    case (.birthdate, nil): wording(.onboardBirthdate, child.displayName)
    case (.sharing, _): wording(.onboardSharing, child.displayName)
    case (.device, _): wording(.onboardDevice, child.displayName)
    }
  }

  private func ask(_ renderer: Renderer) -> [Row] {
    let buttons = buttons(renderer.wording)
    return renderer.text(question(renderer.wording), .bold)
      + (buttons.isEmpty ? [] : renderer.menu(buttons))
  }

  func opening(_ renderer: Renderer) -> [Row] {
    guard isFirst else { return ask(renderer) }
    return [renderer.rule(renderer.wording(.onboardTitle, child.displayName))]
      + renderer.text(renderer.wording(.onboardExplain)) + ask(renderer)
  }

  func label(_ renderer: Renderer) -> String {
    let count = buttons(renderer.wording).count
    return count == 0 ? "2014-05-17 › " : "1–\(count) › "
  }

  mutating func submit(_ line: String, _ renderer: Renderer) -> DialogStep {
    if steps[0] == .birthdate, typed == nil {
      let text = line.trimmingSpaces
      guard let day = Account.Day(iso: text),
        (try? day.validate(asBirthdateAt: renderer.now)) != nil
      else {
        let error = renderer.wording(.invalidBirthdate, text.displaySafe.shortened(20))
        return .more(renderer.text(error, .bad))
      }
      typed = day
      return .more(ask(renderer))
    }
    let count = buttons(renderer.wording).count
    guard let index = index(line, of: count) else { return invalidNumber(renderer, of: count) }
    switch steps[0] {
    case .birthdate:
      if index == 0 { return done(.birthdate(typed!)) }
      typed = nil
      return .more(ask(renderer))
    case .sharing: return done(.sharing([.always, .askFirst, .never][index]))
    case .device: return done(index == 0 ? .invite : .later)
    }
  }

  private func done(_ answer: Answer) -> DialogStep {
    .done(.onboard(child, answer, next: Array(steps.dropFirst())))
  }
}

/// Asks before an act that the guardian cannot undo on this device.
struct ConfirmDialog: Dialog {
  let warning: Phrase
  let result: DialogResult

  var leaving: DialogResult? { .nothing }

  func opening(_ renderer: Renderer) -> [Row] {
    renderer.text(renderer.wording(warning), .bold)
      + renderer.menu([renderer.wording(.remove), renderer.wording(.cancel)])
  }

  func label(_ renderer: Renderer) -> String { "1–2 › " }

  mutating func submit(_ line: String, _ renderer: Renderer) -> DialogStep {
    guard let index = index(line, of: 2) else { return invalidNumber(renderer, of: 2) }
    return .done(index == 0 ? result : .nothing)
  }
}
