import ArgumentParser
import FamilyCore
import FamilyModel
import Foundation
import SystemClock
import TextTable

private let cases = SandboxCase.allCases.map(\.rawValue).joined(separator: ", ")

struct Sandbox: ExplainedCommand {
  static let configuration = CommandConfiguration(
    abstract: "Set a child's account to a named test case.",
    discussion: """
      The case sets the birthdate, region, declaration and communication limits. The case also \
      clears the age answers of all apps and answers the open questions. The output is what \
      DeclaredAgeRange and PermissionKit answer from then on.
      """)
  @Argument(
    help: .init("One of: \(cases)."),
    transform: { text in
      guard let found = SandboxCase(rawValue: text) else {
        throw ValidationError("Unknown case '\(text)'. Choose one of: \(cases).")
      }
      return found
    })
  var sandbox: SandboxCase
  @OptionGroup var child: ChildOption
  @Option(help: "The app whose consent the case withdraws.") var app: String?
  @OptionGroup var guardian: GuardianOptions

  func validate() throws {
    if sandbox.consent == .revoked, app == nil {
      throw ValidationError("The case '\(sandbox.rawValue)' requires --app.")
    }
  }

  func perform() throws {
    var relay = try guardian.connect()
    let view = FamilyView(try relay.machine())
    let child = try view.child(child.name)
    let today = Account.Day(.now, in: "")
    let account = sandbox.account(today)
    try relay.send(.setAccount(child.id, .account(account)))
    if view.conversation(child).limitsOn != sandbox.limitsOn {
      try relay.send(.setLimits(child: child.id, on: sandbox.limitsOn))
    }
    let age = view.link.age(of: child.id)
    for app in age.apps { try relay.send(.setAge(child.id, .ageMemory(app, nil), proof: [])) }
    if sandbox.consent == .revoked, let app {
      try relay.send(.withdraw(child: child.id, .withdrawal(.consent(AppID(app)))))
    }
    let wanted: Answer = sandbox.consent == .approved ? .approval : .denial
    for state in view.conversation(child).inOrder where state.isOpen(.now) {
      guard let choice = state.header.choices.first(where: { $0.answer == wanted }) else {
        continue
      }
      try relay.send(.answer(state.header.id, choice: choice.id))
    }
    let policy = AgePolicy(
      account: account, isInFamily: true, settings: age.settings, limitsOn: sandbox.limitsOn,
      today: today)
    print("\(child.displayName): \(line(policy))".printable)
  }

  /// The answers of DeclaredAgeRange and PermissionKit in one line.
  private func line(_ policy: AgePolicy) -> String {
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
    var names: [String] = []
    if features.contains(.declaredAgeRangeRequired) { names.append("age range") }
    if features.contains(.significantAppChangeRequiresParentalConsent) {
      names.append("parental consent")
    }
    if features.contains(.significantAppChangeRequiresAdultNotification) {
      names.append("adult notification")
    }
    return names.isEmpty ? "nothing" : names.joined(separator: ", ")
  }
}
