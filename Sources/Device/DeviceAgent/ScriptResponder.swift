public import FamilyCore
import FamilyModel
public import Foundation
import Synchronization

/// Answers by the rules of a JSON file, which is reread after a change.
///
/// ```json
/// {"rules": [
///   {"handle": "dragonslayer42", "choose": "decline"},
///   {"handle": "tia.rosa", "choose": "always", "review": true, "after": "gate-1"},
///   {"permission": "cancel"}
/// ]}
/// ```
/// The first rule applies whose `handle` is part of one of the question's handles. A rule without a
/// handle applies to all questions. `after` names a file beside the script: the answer waits until
/// that file exists.
public struct ScriptResponder: Responder {
  struct Rule: Codable {
    var handle: String?
    /// Child's first prompt: `ask`, `inPerson` or `cancel`.
    var permission: String?
    /// Child's compose sheet: `send` or `cancel`.
    var compose: String?
    /// The given name to enter on the child's compose sheet.
    var name: String?
    /// Child's prompt about an open question: `remind` or `cancel`.
    var again: String?
    /// The passcode that a guardian types on the child's device, once.
    var passcode: String?
    /// Notice of an app update: `acknowledge` or `cancel`.
    var acknowledge: String?
    /// An app's request for the age range: `share`, `dontShare` or `cancel`.
    var age: String?
    /// The app of a rule about the age range; `nil` for all apps.
    var app: String?
    /// Guardian's answer: the id of a choice, or `ignore`.
    var choose: String?
    var review: Bool?
    var after: String?
    /// Milliseconds before the answer.
    var delay: Int?
  }
  struct Script: Codable { var rules: [Rule] }

  /// The time between two checks for the file that `after` names.
  static let gateInterval = Milliseconds.milliseconds(20)

  private let file: URL
  private let cache = Cache()

  /// A responder that answers by the script in `file`.
  public init(file: URL) { self.file = file }

  public nonisolated(nonsending) func answer(
    _ prompt: Prompt, in window: String
  ) async -> PromptAnswer {
    switch prompt {
    case .permission(_, let question):
      let rule = await rule(for: question)
      switch rule?.permission {
      case "cancel": return .cancel
      case "inPerson": return .inPerson
      default: return .askByMessage
      }
    case .compose(_, let question, _):
      let rule = await rule(for: question)
      guard rule?.compose != "cancel" else { return .cancel }
      guard let given = rule?.name else { return .send(names: []) }
      var name = NameParts()
      name.given = given
      return .send(names: [name])
    case .alreadyAsked(_, let question, let mayRemind):
      let rule = await rule(for: question)
      return mayRemind && rule?.again == "remind" ? .remind : .cancel
    case .passcode(_, let question, let wait, let failure):
      guard failure == nil, wait == .zero, let rule = await rule(for: question),
        let typed = rule.passcode
      else { return .cancel }
      return .passcode(typed, choice: rule.choose)
    case .acknowledge(_, let question):
      return await rule(for: question)?.acknowledge == "cancel" ? .cancel : .acknowledge
    case .ageRange(let app, _):
      let rule = await rule { $0.age != nil && $0.app ?? app.rawValue == app.rawValue }
      switch rule?.age {
      case "dontShare": return .dontShare
      case "cancel": return .cancel
      default: return .share
      }
    case .ageSettings(_, let wait, let failure):
      guard failure == nil, wait == .zero,
        let typed = await rule(where: { $0.passcode != nil })?.passcode
      else { return .cancel }
      return .passcode(typed, choice: nil)
    }
  }

  public nonisolated(nonsending) func answer(_ bubble: Bubble) async -> BubbleAnswer? {
    let rule = await rule(for: bubble.question)
    guard let choice = rule?.choose, choice != "ignore" else { return nil }
    return BubbleAnswer(choice: choice, reviewed: rule?.review ?? false)
  }

  private nonisolated(nonsending) func rule(for question: Question) async -> Rule? {
    await rule { rule in
      guard let handle = rule.handle else { return true }
      return question.topic.handles.contains { $0.value.contains(handle) }
    }
  }

  private nonisolated(nonsending) func rule(where applies: (Rule) -> Bool) async -> Rule? {
    guard let script = cache.script(in: file) else { return nil }
    let rule = script.rules.first(where: applies)
    if let gate = rule?.after {
      let path = file.deletingLastPathComponent().appendingPathComponent(gate).path
      while !FileManager.default.fileExists(atPath: path), !Task.isCancelled {
        try? await Task.sleep(for: Duration(Self.gateInterval))
      }
    }
    if let delay = rule?.delay { try? await Task.sleep(for: .milliseconds(delay)) }
    return rule
  }
}

/// The script as last read, with the file's identity at that time.
private final class Cache: Sendable {
  private let last = Mutex<(stamp: [Int], script: ScriptResponder.Script)?>(nil)

  func script(in file: URL) -> ScriptResponder.Script? {
    guard let stamp = Self.stamp(of: file) else { return nil }
    if let last = last.withLock({ $0 }), last.stamp == stamp { return last.script }
    guard let data = try? Data(contentsOf: file),
      let script = try? JSONDecoder().decode(ScriptResponder.Script.self, from: data)
    else { return nil }
    last.withLock { $0 = (stamp, script) }
    return script
  }

  /// The file's identity: inode, size and time of change, of which one differs after each write.
  private static func stamp(of file: URL) -> [Int]? {
    var status = stat()
    guard stat(file.path, &status) == 0 else { return nil }
    return [Int(status.st_ino), Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
  }
}
