import FamilyCore
import FamilyModel
import Wording

/// Asks whether to share an age range with an app (D6).
struct AgeDialog: Dialog {
  let app: AppID
  let range: AgeRange
  private var buttons: [(phrase: Phrase, answer: PromptAnswer)] {
    [(.shareAge, .share), (.dontShareAge, .dontShare)]
  }

  func opening(_ painter: Painter) -> [Row] {
    let wording = painter.wording
    return [painter.rule(app.rawValue)]
      + painter.text(wording(.agePrompt, app.rawValue, wording.ages(range)), .bold)
      + painter.menu(buttons.map { wording($0.phrase) })
  }

  func label(_ painter: Painter) -> String { "1–\(buttons.count) › " }

  mutating func take(_ line: String, _ painter: Painter) -> DialogStep {
    guard let index = index(line, of: buttons.count) else {
      return unclear(painter, of: buttons.count)
    }
    return .done(.answer(buttons[index].answer))
  }
}

/// A guardian types the passcode to change a child's age settings (D7), hidden, and not before the wait is
/// over.
struct SettingsPasscodeDialog: Dialog {
  let until: Instant
  let wrong: Bool
  var isHidden: Bool { true }

  private func seconds(_ painter: Painter) -> Int64 {
    max(0, until.milliseconds - painter.now.milliseconds + 999) / 1_000
  }

  func opening(_ painter: Painter) -> [Row] {
    painter.text(painter.wording(wrong ? .wrongPasscode : .ageSettingsPrompt), .bold)
      + painter.menu([(key: "⏎", label: painter.wording(.cancel))])
  }

  func label(_ painter: Painter) -> String {
    let wait = seconds(painter)
    return painter.wording(wait > 0 ? .tryAgainIn : .enterPasscode, "\(wait)") + " › "
  }

  mutating func take(_ line: String, _ painter: Painter) -> DialogStep {
    if line.isEmpty { return .done(.answer(.cancel)) }
    let wait = seconds(painter)
    guard wait == 0 else {
      return .more(painter.text(painter.wording(.tryAgainIn, "\(wait)"), .bad))
    }
    return .done(.answer(.passcode(line, choice: nil)))
  }
}
