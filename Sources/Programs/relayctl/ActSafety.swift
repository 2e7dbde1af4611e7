import ArgumentParser
import FamilyModel
import SystemClock

struct SetCommunicationSafety: ExplainedCommand {
  static let configuration = CommandConfiguration(
    commandName: "communication-safety",
    abstract: "Choose how a child's apps treat sensitive pictures.",
    discussion: """
      With 'simple' an app covers a sensitive picture and offers to show it. With 'descriptive' the app \
      also explains the warning to the child. With 'off' no app checks pictures.
      """)
  @OptionGroup var child: ChildOption
  @Argument(help: "off, simple or descriptive.") var setting: CaseArgument<CommunicationSafety>
  @OptionGroup var guardian: GuardianOptions

  func perform() throws {
    var relay = try guardian.connect()
    let view = FamilyView(try relay.machine())
    let child = try view.child(child.name)
    let isDone = view.link.settings(of: child.id).communicationSafety == setting.value
    if !isDone {
      try relay.send(.changeSettings(child.id, .communicationSafety(setting.value), proof: []))
    }
    print(
      "\(child.displayName)'s communication safety is \(isDone ? "already " : "")'\(setting.value)'."
        .printable)
  }
}
