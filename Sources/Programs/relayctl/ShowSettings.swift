import ArgumentParser
import FamilyCore
import FamilyModel
import SystemClock

struct Known: ExplainedCommand {
  static let configuration = CommandConfiguration(
    abstract: "List the children's known handles and why they are known.")
  @OptionGroup var guardian: GuardianOptions
  @OptionGroup var child: ChildOption
  @OptionGroup var output: OutputOptions

  func perform() throws {
    let view = try guardian.view()
    var listing = Listing(
      ofChildren: [
        .init("handle"), .init("kind"), .init("reason", "how"), .init("in", "app"), .init("until"),
        .init("name"),
      ])
    for child in try view.children(child.name) {
      let conversation = view.conversation(child)
      for (handle, reason) in conversation.known.judged(at: .now).reasons {
        let scope = reason.app.map(view.cell) ?? .shown("every app", .none)
        listing.add(
          child, .text(handle.value),
          .text(KindArgument(handle.kind).rawValue), .text(reason.name), scope,
          reason.until.map { .time($0) } ?? .none,
          conversation.name(of: handle).map { .text($0) } ?? .none)
      }
    }
    output.show(listing, empty: "No handle is known yet.")
  }
}

extension KnownHandles.Reason {
  fileprivate var name: String { self == .contact ? "contact" : "approved" }
}

struct Settings: ExplainedCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show each child's settings, and whether the family has a passcode.")
  @OptionGroup var guardian: GuardianOptions
  @OptionGroup var output: OutputOptions

  func perform() throws {
    let view = try guardian.view()
    var listing = Listing(
      ofChildren: [
        .init("limits"), .init("pictures", "communicationSafety"), .init("birthdate"),
        .init("region"), .init("declared by", "declaration"), .init("passcode"),
        .init("age range", "ageSharing"), .init(nil, "ageSharingOfApps"), .init("ceiling"),
        .init("sandbox"),
        .init("without consent", "withoutConsent"),
      ])
    let hasPasscode = view.link.passcode != nil
    for child in try view.children(nil) {
      let account = view.link.accounts[child.id]
      let age = view.link.age(of: child.id).settings
      let apps = Dictionary(
        uniqueKeysWithValues: age.apps.map { ($0.key.rawValue, Cell.text("\($0.value)")) })
      let isLimited = view.conversation(child).limitsOn
      let withdrawn = view.conversation(child).consents.withdrawn.map(\.rawValue)
      listing.add(
        child, .shown(isLimited ? "on" : "off", .flag(isLimited)),
        .text("\(view.link.settings(of: child.id).communicationSafety)"),
        account?.birthdate.map { .text($0.iso) } ?? .shown("not known", .none),
        account.map { .text($0.region) } ?? .none,
        account.map {
          .shown($0.declaration.by, .text("\($0.declaration)"))
        } ?? .none,
        .shown(hasPasscode ? "set" : "not set", .flag(hasPasscode)),
        // The table shows the value that `relayctl age-sharing` takes.
        .shown(age.sharing == .askFirst ? "ask" : "\(age.sharing)", .text("\(age.sharing)")),
        .object(apps),
        age.ceiling.map { .shown("\($0.rawValue)+", .number(UInt64($0.rawValue))) } ?? .none,
        age.sandbox.map { .text($0.rawValue) } ?? .none,
        .shown(withdrawn.joined(separator: ", "), .list(withdrawn.map(Cell.text))))
    }
    output.show(listing, empty: "The family has no children.")
  }
}

extension Account.Declaration {
  /// The person who declared the birthdate, and whether it was checked.
  fileprivate var by: String {
    switch self {
    case .selfDeclared: "self"
    case .guardianDeclared: "guardian"
    case .checkedByOtherMethod, .governmentIDChecked, .paymentChecked: "self, checked"
    case .guardianCheckedByOtherMethod, .guardianGovernmentIDChecked, .guardianPaymentChecked:
      "guardian, checked"
    case .confirmed: "confirmed"
    }
  }
}
