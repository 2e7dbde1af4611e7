public import FamilyModel

extension Wording {
  /// The sentence of a bubble (M6, Q6): who asks, what for, whom, in which app.
  ///
  /// For an app that changed, the app's description follows, marked as the app's words (Q5).
  public func question(child: String, app: String, topic: Topic) -> String {
    switch topic {
    case .significantUpdate(let description):
      description.isVisible
        ? text("question.update", [child, app, description])
        : text("question.update.undescribed", [child, app])
    case .communication(let people, let actions):
      text(
        "question.\(actions.key).\(people.count > 1 ? "many" : "one")",
        [child, app, people.isEmpty ? text("person.someone") : list(people.map(inQuestion))])
    }
  }

  /// A person inside a sentence: the name as the language speaks of others, or else the handle.
  private func inQuestion(_ subject: Subject) -> String {
    let name = subject.name.map(name) ?? ""
    return name.isEmpty ? subject.handle.value : text("person.inQuestion", [name])
  }
}

extension Actions {
  private static let all: [(action: Actions, key: String)] = [
    (.audioCall, "audioCall"), (.beFollowed, "beFollowed"), (.call, "call"), (.chat, "chat"),
    (.communicate, "communicate"), (.connect, "connect"), (.follow, "follow"), (.friend, "friend"),
    (.message, "message"), (.videoCall, "videoCall"),
  ]

  /// The middle of the key of the sentence: one action has its own, calls are calls, and all else
  /// is communication.
  fileprivate var key: String {
    if let one = Actions.all.first(where: { $0.action == self }) { return one.key }
    return !isEmpty && isSubset(of: [.call, .audioCall, .videoCall]) ? "call" : "communicate"
  }
}
