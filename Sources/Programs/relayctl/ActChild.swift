import ArgumentParser
import FamilyCore
import FamilyModel
import RelayClient
import SystemClock
import TextTable

struct SetLimits: ExplainedCommand {
  enum Setting: String, ExpressibleByArgument, CaseIterable { case on, off }

  static let configuration = CommandConfiguration(
    commandName: "limits", abstract: "Turn a child's communication limits on or off.")
  @OptionGroup var child: ChildOption
  @Argument(help: "on or off.") var setting: Setting
  @OptionGroup var guardian: GuardianOptions

  func perform() throws {
    var relay = try guardian.connect()
    let view = FamilyView(try relay.machine())
    let child = try view.child(child.name)
    let isDone = view.conversation(child).limitsOn == (setting == .on)
    if !isDone { try relay.send(.setLimits(child: child.id, on: setting == .on)) }
    print(
      "\(child.displayName)'s communication limits are \(isDone ? "already " : "")\(setting)."
        .printable)
  }
}

struct Withdraw: ExplainedCommand {
  static let configuration = CommandConfiguration(
    abstract: "Withdraw the approval of a handle, or the consent or authorization of an app.")
  @OptionGroup var child: ChildOption
  @Option(help: "The handle's kind.") var kind: KindArgument?
  @Argument(help: "The phone number, e-mail address or user name.") var value: String?
  @Option(help: "Only in this app. User names differ between apps; other handles do not.")
  var app: String?
  @Option(help: "The app for which to withdraw consent.") var consent: String?
  @Option(help: "The app that may no longer manage the child.") var authorization: String?
  @OptionGroup var guardian: GuardianOptions

  func validate() throws {
    let subjects = [kind?.rawValue, consent, authorization].compactMap { $0 }
    guard (kind == nil) == (value == nil), subjects.count == 1 else {
      throw ValidationError(
        "Give either --kind and a handle, or --consent or --authorization and an app.")
    }
    guard kind != .authorization else {
      throw ValidationError("Withdraw an authorization with --authorization and the app.")
    }
    if app != nil, kind != .custom {
      throw ValidationError(
        "--app requires --kind custom, because other handles are known in every app.")
    }
    for name in [app, consent, authorization].compactMap({ $0 })
    where !(1...Limits.identifierBytes ~= name.utf8.count) {
      throw ValidationError(
        "'\(name)' is not an app's identifier, which has 1 to \(Limits.identifierBytes) bytes.")
    }
  }

  func perform() throws {
    var relay = try guardian.connect()
    let view = FamilyView(try relay.machine())
    let child = try view.child(child.name)
    let app = (app ?? authorization).map { AppID($0) }
    if let app, authorization != nil {
      return try withdrawAuthorization(of: app, child, view, &relay)
    }
    guard let value, let kind else {
      let app = AppID(consent!)
      try relay.send(.withdraw(child: child.id, .withdrawal(.consent(app))))
      return print(
        "Withdrawn: \(child.displayName) may no longer use \(view.name(of: app)).".printable)
    }
    let handle = Handle(value, kind.kind)
    try handle.validate()
    let scope = app.map { " in \(view.name(of: $0))" } ?? ""
    let isKnown = view.reasons(handle, child).contains { reason in
      guard let app, let other = reason.app else { return true }
      return app == other
    }
    guard isKnown else {
      throw ControlError(
        "'\(value)' is not known for \(child.displayName)\(scope). \(view.knownHandlesHint(child))"
          .printable)
    }
    try relay.send(.withdraw(child: child.id, .withdrawal(.handle(handle, in: app))))
    print("Withdrawn: \(value) is no longer known for \(child.displayName)\(scope).".printable)
  }

  private func withdrawAuthorization(
    of app: AppID, _ child: Person, _ view: FamilyView, _ relay: inout DeviceClient
  ) throws {
    let isAuthorized = view.reasons(.authorization, child).contains { $0.app == app }
    guard isAuthorized else {
      throw ControlError(
        "No guardian has authorized \(view.name(of: app)) for \(child.displayName).".printable)
    }
    try relay.send(.withdraw(child: child.id, .withdrawal(.handle(.authorization, in: app))))
    print("Withdrawn: \(view.name(of: app)) no longer manages \(child.displayName).".printable)
  }
}

extension FamilyView {
  /// The reasons why the handle is known for the child; empty for an unknown handle.
  func reasons(_ handle: Handle, _ child: Person) -> [KnownHandles.Reason] {
    conversation(child).known.judged(at: .now).reasons
      .filter { $0.handle == handle.canonical }.map(\.reason)
  }

  /// A sentence for errors that lists the child's known handles.
  func knownHandlesHint(_ child: Person) -> String {
    var known: [String] = []
    for (handle, _) in conversation(child).known.judged(at: .now).reasons
    where known.last != handle.value {
      known.append(handle.value)
    }
    return known.isEmpty
      ? "No handle is known yet." : "Known handles: \(known.joined(separator: ", "))."
  }
}
