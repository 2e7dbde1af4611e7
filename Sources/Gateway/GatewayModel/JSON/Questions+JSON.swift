package import FamilyModel
package import Foundation

extension Instant {
  /// The moment of a date, rounded down to milliseconds.
  package init(_ date: Date) {
    self.init(
      milliseconds: Int64(exactly: (date.timeIntervalSince1970 * 1_000).rounded(.down)) ?? .max)
  }

  /// The moment in RFC 3339.
  package var json: JSONValue {
    .string(Date(timeIntervalSince1970: Double(milliseconds) / 1_000).rfc3339)
  }
}

extension Handle {
  private static let kinds: KeyValuePairs<String, Kind> = [
    "phoneNumber": .phoneNumber, "emailAddress": .emailAddress, "custom": .custom, "site": .site,
    "authorization": .authorization,
  ]

  package init(_ reader: JSONReader) throws(InvalidBody) {
    let members = try reader.object("kind", "value")
    self.init(
      try members.required("value").string(), try members.required("kind").one(of: Self.kinds))
  }

  package var json: JSONValue {
    let name = Self.kinds.first { $0.value == kind }?.key
    return .object(["kind": .orNull(name), "value": .string(value)])
  }
}

extension NameParts {
  private static var parts: KeyValuePairs<String, WritableKeyPath<NameParts, String>> {
    [
      "prefix": \.prefix, "given": \.given, "middle": \.middle, "family": \.family,
      "suffix": \.suffix, "nickname": \.nickname,
    ]
  }

  init(_ reader: JSONReader) throws(InvalidBody) {
    self.init()
    let members = try reader.object("prefix", "given", "middle", "family", "suffix", "nickname")
    for (name, part) in Self.parts {
      if let member = members.optional(name) { self[keyPath: part] = try member.string() }
    }
  }

  var json: JSONValue {
    let filled = Self.parts.filter { !self[keyPath: $0.value].isEmpty }
    return .object(
      Dictionary(uniqueKeysWithValues: filled.map { ($0.key, .string(self[keyPath: $0.value])) }))
  }
}

extension Subject {
  init(_ reader: JSONReader) throws(InvalidBody) {
    let members = try reader.object("handle", "name", "picture")
    self.init(handle: try Handle(members.required("handle")))
    if let member = members.optional("name") { name = try NameParts(member) }
    guard let picture = members.optional("picture") else { return }
    let fields = try picture.object("mediaType", "base64")
    let text = try fields.required("base64")
    guard let data = Data(base64Encoded: try text.string()) else {
      throw text.invalid("not base64")
    }
    avatar = Avatar(mediaType: try fields.required("mediaType").string(), bytes: [UInt8](data))
  }

  /// The person without the picture.
  var json: JSONValue { .object(of: ["handle": handle.json, "name": name?.json]) }
}

extension Topic {
  private static let actions: KeyValuePairs<String, Actions> = [
    "audioCall": .audioCall, "beFollowed": .beFollowed, "call": .call, "chat": .chat,
    "communicate": .communicate, "connect": .connect, "follow": .follow, "friend": .friend,
    "message": .message, "videoCall": .videoCall,
  ]

  init(_ reader: JSONReader) throws(InvalidBody) {
    let members = try reader.object("people", "actions", "update")
    if let update = members.optional("update") {
      guard members.optional("people") == nil, members.optional("actions") == nil else {
        throw reader.invalid("about people and an update")
      }
      self = .significantUpdate(description: try update.string())
      return
    }
    var people: [Subject] = []
    for person in try members.required("people").array(1...Limits.subjects) {
      people.append(try Subject(person))
    }
    var actions: Actions = [.communicate]
    if let member = members.optional("actions") {
      actions = []
      for action in try member.array(1...Self.actions.count) {
        actions.insert(try action.one(of: Self.actions))
      }
    }
    self = .communication(people: people, actions: actions)
  }

  /// The topic without pictures.
  package var json: JSONValue {
    switch self {
    case .significantUpdate(let description): .object(["update": .string(description)])
    case .browse(let site): .object(["site": .string(site.name)])
    case .authorization: .object(["authorization": .bool(true)])
    case .communication(let people, let actions):
      .object([
        "people": .array(people.map(\.json)),
        "actions": .array(
          Self.actions.filter { actions.contains($0.value) }.map { .string($0.key) }),
      ])
    }
  }
}

extension Choice {
  private static let answers: KeyValuePairs<String, Answer> = [
    "approval": .approval, "denial": .denial,
  ]

  init(_ reader: JSONReader) throws(InvalidBody) {
    let members = try reader.object("id", "title", "answer", "end")
    self.init(
      id: try members.required("id").string(), title: try members.required("title").string(),
      answer: try members.required("answer").one(of: Self.answers))
    guard let member = members.optional("end") else { return }
    let fields = try member.object("after", "at")
    switch (fields.optional("after"), fields.optional("at")) {
    case (let after?, nil):
      let seconds = try after.number()
      guard let milliseconds = Int64(exactly: (seconds * 1_000).rounded()) else {
        throw after.invalid("too long")
      }
      end = .after(.milliseconds(milliseconds))
    case (nil, let at?): end = .at(Instant(try at.time()))
    default: throw member.invalid("neither after nor at")
    }
  }

  package var json: JSONValue {
    .object(of: [
      "id": .string(id), "title": .string(title),
      "answer": .orNull(Self.answers.first { $0.value == answer }?.key),
      "end": end.map { end in
        switch end {
        case .after(let duration): .object(["after": .number(Double(duration.count) / 1_000)])
        case .at(let moment): .object(["at": moment.json])
        }
      },
    ])
  }
}
