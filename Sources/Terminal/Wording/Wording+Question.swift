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
    case .browse(let site): text("question.site", [child, app, site.name])
    case .authorization: text("question.authorization", [child, app])
    case .communication(let people, let actions):
      text(
        "question.\(actions.key).\(people.count > 1 ? "many" : "one")",
        [child, app, people.isEmpty ? text("person.someone") : list(people.map(inQuestion))])
    }
  }

  /// A choice as people read it: whether the choice approves or denies, then the app's title.
  ///
  /// The meaning and the end precede the title, so that no title can hide or push them away.
  ///
  /// - Parameter end: The end of the approval, in words; `nil`: none.
  public func choice(_ choice: Choice, until end: String? = nil) -> String {
    let meaning = [meaning(choice.answer), end].compactMap { $0 }.joined(separator: " · ")
    let isPlain = choice == .approve || choice == .decline || !choice.title.isVisible
    return isPlain ? meaning : self(.choiceTitle, meaning, choice.title)
  }

  /// Whether a choice approves or denies.
  public func meaning(_ answer: Answer) -> String {
    switch answer {
    case .approval: self(.approve)
    case .denial: self(.decline)
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
