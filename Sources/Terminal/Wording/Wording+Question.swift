public import FamilyModel

extension Wording {
  /// The sentence of a bubble: the child, the actions, the people and the app.
  ///
  /// For an app's update, the app's description follows as a quotation.
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

  /// A person inside a sentence: the name with the language's honorific, or the handle.
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

  /// The middle part of the sentence's key: a single action's name, `call` for several kinds of
  /// calls, and `communicate` for every other combination.
  fileprivate var key: String {
    if let one = Actions.all.first(where: { $0.action == self }) { return one.key }
    return !isEmpty && isSubset(of: [.call, .audioCall, .videoCall]) ? "call" : "communicate"
  }
}
