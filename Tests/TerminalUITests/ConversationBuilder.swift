import FamilyCore
import FamilyModel
import Foundation
@testable import TerminalUI
import Wording

/// Builds a family's events as the records that a device stores.
struct ConversationBuilder {
  static let start = Instant(milliseconds: 1_780_000_000_000)
  static let app = AppID("example.landmarks")
  static let names = ["Rosa", "Alex", "Emily", "Noah"]
  private(set) var records: [DeviceRecord] = []
  private var last: [Audience: UInt64] = [:]
  private var seq: UInt64 = 0

  /// Rosa (1), Alex (2), Emily (3) and Noah (4), each with the device of the same number.
  init(names: [String] = names) {
    let roles: [Role] = [.organizer, .guardian, .child, .child]
    let roster = Roster(
      persons: zip(zip(1..., roles), names).map {
        Person(id: PersonID($0.0), role: $0.1, displayName: $1)
      },
      devices: (1...4).map {
        Device(id: DeviceID($0), person: PersonID($0), publicKey: Array(repeating: 0, count: 32))
      })
    happen(0, .family, .rosterChanged(roster))
  }

  @discardableResult
  mutating func happen(_ device: UInt32, _ audience: Audience, _ body: Event.Body) -> UInt64 {
    seq += 1
    let event = Event(
      seq: seq, previous: last[audience] ?? 0, audience: audience,
      command: CommandID(high: 7, low: seq), device: DeviceID(device),
      at: Self.start + .minutes(seq), body: body)
    last[audience] = seq
    records.append(.event(event))
    return seq
  }

  static func header(_ question: Question, child: UInt32 = 3) -> QuestionHeader {
    QuestionHeader(
      id: question.id, child: PersonID(child), app: app, subjects: [],
      choices: question.choices.map { ChoiceHeader(id: $0.id, answer: $0.answer) },
      expiration: question.expiration)
  }

  @discardableResult
  mutating func ask(_ question: Question, child: UInt32 = 3) -> UInt64 {
    happen(
      child, .conversation(PersonID(child)),
      .asked(Self.header(question, child: child), .question(question)))
  }

  mutating func decide(_ guardian: UInt32, _ question: Question, _ choice: Choice) {
    let decision = Decision(
      question: question.id, choice: ChoiceHeader(id: choice.id, answer: choice.answer))
    happen(guardian, .conversation(PersonID(3)), .decided(decision))
  }

  mutating func post(_ device: UInt32, _ text: String, child: UInt32 = 3) {
    let child = PersonID(child)
    happen(device, .conversation(child), .posted(child: child, .text(text)))
  }

  mutating func remember(_ record: DeviceRecord) { records.append(record) }

  /// The link of this person's device.
  func link(_ person: UInt32) -> DeviceLink {
    let address = DeviceAddress(family: FamilyID(1), device: DeviceID(person))
    let ids = IDSource(seed: 1)
    if person <= 2 {
      return GuardianMachine(address, of: PersonID(person), restoring: records, ids: ids).link
    }
    return ChildMachine(
      address, of: PersonID(person), apps: [], restoring: records, ids: ids, digest: { _, _ in [] }
    ).link
  }

  /// The notifications of this person's device.
  func notifications(_ person: UInt32) -> Notifications {
    let address = DeviceAddress(family: FamilyID(1), device: DeviceID(person))
    let ids = IDSource(seed: 1)
    return GuardianMachine(address, of: PersonID(person), restoring: records, ids: ids)
      .notifications
  }

  func timeline(_ person: UInt32, _ renderer: Renderer) -> Timeline {
    Timeline(link: link(person), renderer: renderer)
  }

  /// All rows of the person's screen.
  func screen(_ person: UInt32, _ renderer: Renderer) -> [Row] {
    var feed = Feed()
    return feed.update(timeline(person, renderer), renderer, isGuardian: person <= 2).flatMap(
      \.rows)
  }

  static func question(
    _ number: UInt64, _ handles: [String] = ["dragonslayer42"], name: String? = nil,
    avatar: Avatar? = nil, choices: [Choice] = [.approve, .decline], expiration: Instant? = nil
  ) -> Question {
    let people = handles.map { handle in
      var parts = NameParts()
      parts.given = name ?? ""
      return Subject(
        handle: Handle(handle, .custom), name: name == nil ? nil : parts, avatar: avatar)
    }
    return Question(
      id: QuestionID(high: 1, low: number),
      topic: .communication(people: people, actions: .message), choices: choices,
      defaultChoice: choices.last!, expiration: expiration)
  }
}

func renderer(
  _ columns: Int = 79, _ language: Language = .english, at minutes: Int64 = 60,
  pictures: Pictures = Pictures()
) -> Renderer {
  Renderer(
    Wording(language), columns: columns, now: ConversationBuilder.start + .minutes(minutes),
    timeZone: TimeZone(secondsFromGMT: 0)!,
    pictures: pictures)
}

extension [Row] {
  var texts: [String] { map(\.text) }
  /// The text without line breaks, frames and repeated spaces.
  var whole: String {
    texts.joined(separator: " ").filter { !"│┃╭╮╰╯━─┏┓┗┛".contains($0) }
      .split(separator: " ").joined(separator: " ")
  }
}
