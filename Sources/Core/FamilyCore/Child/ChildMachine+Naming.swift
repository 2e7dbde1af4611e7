import FamilyModel

/// The handles that apps name. An app learns about no other handle of the child.
extension ChildMachine {
  /// Records the handles that the app names, and confirms those that it recorded. The app receives
  /// those that are known.
  mutating func name(
    _ handles: [Handle], by app: AppID, into out: inout DeviceLink.Output,
    effects: inout [DeviceEffect]
  ) {
    guard let index = feeds.firstIndex(where: { $0.app == app }) else { return }
    let handles = handles.map(\.canonical)
    let (changes, new) = feeds[index].name(handles, limit: Limits.namedHandles)
    out.changes += changes
    let known = new.filter { self.known.contains($0, in: app) }
    enqueue(known, for: app, into: &out, effects: &effects) { .known($0) }
    let named = feeds[index].named
    effects.append(.app(app, .named(handles.filter(named.contains))))
  }

  /// Appends entries about the handles: as many as the evidence needs, so that each entry fits into a
  /// message and a record.
  mutating func enqueue(
    _ handles: [Handle], for app: AppID, into out: inout DeviceLink.Output,
    effects: inout [DeviceEffect], _ body: ([Handle]) -> AppEntry.Body
  ) {
    var part: [Handle] = []
    var signed: [CommandName] = []
    for handle in handles {
      let commands = self.commands(about: [handle], in: app)
      if Set(signed + commands).count > Limits.evidenceInEntry, !part.isEmpty {
        enqueue(body(part), for: app, signed: signed, into: &out, effects: &effects)
        (part, signed) = ([], [])
      }
      part.append(handle)
      signed += commands
    }
    guard !part.isEmpty else { return }
    enqueue(body(part), for: app, signed: signed, into: &out, effects: &effects)
  }

  /// Enqueues a response, and records that the app has named the response's people.
  ///
  /// The app takes a response for the confirmation of these names, whose own message may be lost, or may
  /// have come from another device.
  ///
  /// - Parameter limit: The number of handles up to which the app may name people; `nil`: any, because
  ///   guardians have decided.
  /// - Returns: The people whom the app had not named before.
  @discardableResult
  mutating func enqueueResponse(
    _ question: Question, _ choice: Choice, for app: AppID, signed: [CommandName] = [],
    limit: Int? = nil, into out: inout DeviceLink.Output, effects: inout [DeviceEffect]
  ) -> [Handle] {
    let people = question.topic.handles.map(\.canonical)
    let named = update(app) { $0.name(people, limit: limit) }
    out.changes += named?.changes ?? []
    enqueue(.response(question, choice), for: app, signed: signed, into: &out, effects: &effects)
    return named?.new ?? []
  }

  /// Those of the handles that are known in the feed's app and that the app has named.
  func knownAndNamed(_ handles: [Handle], in feed: AppFeed) -> [Handle] {
    handles.filter { feed.named.contains($0) && known.contains($0, in: feed.app) }
  }

  /// All handles that are known in the app and that the app has named, in order.
  func knownAndNamed(in app: AppID) -> [Handle] {
    guard let feed = feeds.first(where: { $0.app == app }) else { return [] }
    return known.all(in: app).filter(feed.named.contains)
  }

  /// The evidence for handles in the app, of those that the app has named.
  func evidence(of handles: [Handle], in app: AppID) -> [Evidence] {
    evidence(commands(about: handles, in: app), for: app)
  }

  /// The evidence of the commands, without the handles that the app has not named.
  func evidence(_ commands: [CommandName], for app: AppID) -> [Evidence] {
    let named = feeds.first { $0.app == app }?.named ?? []
    return link.evidence(commands, for: app, named: named)
  }
}
