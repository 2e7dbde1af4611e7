import ArgumentParser
import FamilyCore
import FamilyModel
import Foundation
import RelayClient
import SystemClock
import TextTable

private let cases = SandboxCase.allCases.map(\.rawValue).joined(separator: ", ") + ", off"

/// A case, or the end of Apple's cases.
private struct SandboxChoice {
  /// `nil`: the account answers again.
  var sandbox: SandboxCase?
}

struct Sandbox: ExplainedCommand {
  static let configuration = CommandConfiguration(
    abstract: "Set a child's account to a named test case.",
    discussion: """
      The first five cases are those of Apple's sandbox, and leave the account as it is. Until \
      `relayctl sandbox off`, the child's devices share the case's range without a prompt. The \
      guardians' devices answer each question as the case defines. Every other case sets the \
      birthdate, region, declaration and communication limits, and clears the age answers of all \
      apps. Each case answers the open questions. The output is what DeclaredAgeRange and \
      PermissionKit answer from then on.
      """)
  @Argument(
    help: .init("One of: \(cases)."),
    transform: { text in
      let found = SandboxCase(rawValue: text)
      guard found != nil || text == "off" else {
        throw ValidationError("Unknown case '\(text)'. Choose one of: \(cases).")
      }
      return SandboxChoice(sandbox: found)
    })
  private var choice: SandboxChoice
  @OptionGroup var child: ChildOption
  @Option(help: "The app whose consent the case withdraws.") var app: String?
  @OptionGroup var guardian: GuardianOptions
  @OptionGroup var options: RegionOptions

  func validate() throws {
    if let sandbox = choice.sandbox, sandbox.consent == .revoked, app == nil {
      throw ValidationError("The case '\(sandbox.rawValue)' requires --app.")
    }
  }

  func perform() throws {
    var relay = try guardian.connect()
    let view = FamilyView(try relay.machine())
    let child = try view.child(child.name)
    var settings = view.link.age(of: child.id).settings
    settings.sandbox = choice.sandbox?.answers == nil ? nil : choice.sandbox
    if settings != view.link.age(of: child.id).settings {
      try relay.send(.setAge(child.id, .ageSettings(settings), proof: []))
    }
    guard let sandbox = choice.sandbox else {
      return print("\(child.displayName): the account answers again.".printable)
    }
    // An adult of Apple's cases cannot ask, so the child's limits stay as they are.
    if sandbox.answers?.response != .systemError,
      view.conversation(child).limitsOn != sandbox.limitsOn
    {
      try relay.send(.setLimits(child: child.id, on: sandbox.limitsOn))
    }
    if let answers = sandbox.answers {
      try answerQuestions(of: child, sandbox, view, &relay)
      return print("\(child.displayName): \(line(answers, sandbox))".printable)
    }
    let account = sandbox.account(Account.Day(.now, in: ""))
    try relay.send(.setAccount(child.id, .account(account)))
    let age = view.link.age(of: child.id)
    for app in age.apps { try relay.send(.setAge(child.id, .ageMemory(app, nil), proof: [])) }
    if sandbox.consent == .revoked, let app {
      try relay.send(.withdraw(child: child.id, .withdrawal(.consent(AppID(app)))))
    } else {
      for app in view.conversation(child).consents.withdrawn {
        try relay.send(.withdraw(child: child.id, .withdrawal(.consentGiven(app))))
      }
    }
    try answerQuestions(of: child, sandbox, view, &relay)
    let today = Account.Day(.now, in: "")
    let made = view.link.accountMade(of: child.id).map { Account.Day($0, in: "") }
    let policy = AgePolicy(
      account: account, accountMade: made ?? today, isInFamily: true, settings: settings,
      limitsOn: sandbox.limitsOn, today: today, regions: try options.table())
    print("\(child.displayName): \(line(policy, sandbox))".printable)
  }

  /// Answers the child's open questions. A guardian's running device answers later ones of Apple's
  /// cases.
  private func answerQuestions(
    of child: Person, _ sandbox: SandboxCase, _ view: FamilyView, _ relay: inout DeviceClient
  ) throws {
    let wanted: Answer = sandbox.consent == .approved ? .approval : .denial
    for state in view.conversation(child).questions.unanswered where state.isOpen(.now) {
      guard let choice = state.header.choices.first(where: { $0.answer == wanted }) else {
        continue
      }
      try relay.send(.answer(state.header.id, choice: choice.id))
    }
  }

  /// The answers of both frameworks in a case of Apple's sandbox, in one line.
  private func line(_ answers: SandboxAnswers, _ sandbox: SandboxCase) -> String {
    let response =
      switch answers.response {
      case .approve: "approval"
      case .decline: "denial"
      case .systemError: "AskError.systemError"
      }
    return "requestAgeRange → \(sharing(answers.range(limitsOn: sandbox.limitsOn)))"
      + "; required: \(names(answers.features)); PermissionKit → \(response)"
  }

  /// The answers of DeclaredAgeRange and PermissionKit in one line.
  private func line(_ policy: AgePolicy, _ sandbox: SandboxCase) -> String {
    let app = AppID(app ?? "")
    var range = "requestAgeRange(13, 16, 18) → "
    switch try? policy.decide([13, 16, 18], of: app, AgeMemory()) {
    case nil: range += "notAvailable"
    case .reply: range += "declinedSharing"
    case .share(let answer, _): range += sharing(policy.withControls(answer.range!))
    case .prompt(let answer): range += sharing(policy.withControls(answer.range!)) + ", if shared"
    }
    let consent =
      switch sandbox.consent {
      case .revoked: "consent withdrawn"
      case _ where !sandbox.limitsOn: "the default choice"
      case .approved: "approval"
      case .declined: "denial"
      }
    return "\(range); required: \(names(policy.region.features)); PermissionKit → \(consent)"
  }

  private func sharing(_ range: AgeRange) -> String {
    var parts = [range.text]
    if let declaration = range.declaration { parts.append("\(declaration)") }
    if range.controls.contains(.communicationLimits) { parts.append("communicationLimits") }
    if range.controls.contains(.significantAppChangeApprovalRequired) {
      parts.append("significantAppChangeApprovalRequired")
    }
    return "sharing \(parts.joined(separator: ", "))"
  }

  private func names(_ features: RegulatoryFeatures) -> String {
    features.names.isEmpty ? "nothing" : features.names.joined(separator: ", ")
  }
}
