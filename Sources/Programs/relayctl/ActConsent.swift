import ArgumentParser
import FamilyCore
import FamilyModel
import TextTable

struct GiveConsent: ExplainedCommand {
  static let configuration = CommandConfiguration(
    commandName: "consent",
    abstract: "Give back the consent to an app, after `relayctl withdraw --consent`.")
  @Argument(help: "The app's bundle identifier.") var app: String
  @OptionGroup var child: ChildOption
  @OptionGroup var guardian: GuardianOptions

  func validate() throws {
    guard 1...Limits.identifierBytes ~= app.utf8.count else {
      throw ValidationError(
        "'\(app)' is not an app's identifier, which has 1 to \(Limits.identifierBytes) bytes.")
    }
  }

  func perform() throws {
    var relay = try guardian.connect()
    let view = FamilyView(try relay.machine())
    let child = try view.child(child.name)
    let isWithdrawn = view.conversation(child).consents.isWithdrawn(AppID(app))
    if isWithdrawn {
      try relay.send(.withdraw(child: child.id, .withdrawal(.consentGiven(AppID(app)))))
    }
    let use = isWithdrawn ? "use" : "already use"
    print("\(child.displayName) may \(use) \(view.name(of: AppID(app))).".printable)
  }
}
