import FamilyModel
import Foundation
import SwiftProtobuf

extension Handle {
  var wire: PBHandle {
    .with {
      $0.kind = UInt32(kind.rawValue)
      $0.value = value
    }
  }

  init(_ wire: PBHandle) throws(Problem) {
    let kind = try Wire.require(UInt8(exactly: wire.kind).flatMap(Kind.init))
    guard wire.value.utf8.count <= Limits.handleBytes else { throw .handleTooLong }
    self.init(wire.value, kind)
    // Devices and apps store canonical forms, which may be longer, and must be able to read them.
    guard canonical.value.utf8.count <= Limits.handleBytes else { throw .handleTooLong }
  }
}

extension Subject {
  var wire: PBSubject {
    .with {
      $0.handle = handle.wire
      if let name {
        $0.name = .with {
          $0.prefix = name.prefix
          $0.given = name.given
          $0.middle = name.middle
          $0.family = name.family
          $0.suffix = name.suffix
          $0.nickname = name.nickname
        }
      }
      if let avatar { $0.avatar = avatar.wire }
    }
  }

  init(_ wire: PBSubject) throws(Problem) {
    self.init(handle: try Handle(wire.handle))
    if wire.hasName {
      var name = NameParts()
      name.prefix = wire.name.prefix
      name.given = wire.name.given
      name.middle = wire.name.middle
      name.family = wire.name.family
      name.suffix = wire.name.suffix
      name.nickname = wire.name.nickname
      self.name = name
    }
    if wire.hasAvatar {
      guard wire.avatar.data.count <= Limits.avatarBytes else { throw .imageTooLarge }
      avatar = Avatar(wire.avatar)
    }
  }
}

extension Choice {
  var wire: PBChoice {
    .with {
      $0.id = id
      $0.title = title
      $0.answer = UInt32(answer.rawValue)
      switch end {
      case .after(let duration): $0.lasts = duration.count
      case .at(let moment): $0.until = moment.milliseconds
      case nil: break
      }
    }
  }

  init(_ wire: PBChoice) throws(Problem) {
    let answer = try Wire.require(UInt8(exactly: wire.answer).flatMap(Answer.init))
    guard wire.id.utf8.count <= Limits.identifierBytes, wire.title.utf8.count <= Limits.titleBytes
    else { throw .tooLarge }
    let end: ChoiceEnd? =
      switch wire.end {
      case .lasts(let duration): .after(Milliseconds(duration))
      case .until(let moment): .at(Instant(milliseconds: moment))
      case nil: nil
      }
    self.init(id: wire.id, title: wire.title, answer: answer, end: end)
  }
}

extension ChoiceHeader {
  var wire: PBChoice { Choice(id: id, title: "", answer: answer).wire }

  init(_ wire: PBChoice) throws(Problem) {
    let choice = try Choice(wire)
    self.init(id: choice.id, answer: choice.answer)
  }
}

extension Question {
  var wire: PBQuestion {
    .with {
      $0.id = Data(id.bytes)
      switch topic {
      case .communication(let people, let actions):
        $0.communication = .with {
          $0.people = people.map(\.wire)
          $0.actions = actions.rawValue
        }
      case .significantUpdate(let text): $0.update = .with { $0.description_p = text }
      case .browse(let site): $0.browse = .with { $0.site = site.name }
      case .authorization: $0.authorization = PBAuthorizationTopic()
      }
      $0.choices = choices.map(\.wire)
      // A default that is not among the choices becomes an index beyond them, which the decoder
      // rejects.
      $0.defaultChoice = UInt32(choices.firstIndex(of: defaultChoice) ?? choices.count)
      if let expiration { $0.expiration = expiration.milliseconds }
    }
  }

  init(_ wire: PBQuestion) throws(Problem) {
    let topic: Topic
    switch wire.topic {
    case .communication(let found):
      let people = try Wire.map(found.people, limit: Limits.subjects) { subject throws(Problem) in
        try Subject(subject)
      }
      topic = .communication(people: people, actions: Actions(rawValue: found.actions))
    case .update(let found):
      guard found.description_p.utf8.count <= Limits.textBytes else { throw .tooLarge }
      topic = .significantUpdate(description: found.description_p)
    case .browse(let found): topic = .browse(try Wire.require(Site(found.site)))
    case .authorization: topic = .authorization
    case nil: throw .malformed
    }
    let choices = try Wire.map(wire.choices, limit: Limits.choices) { choice throws(Problem) in
      try Choice(choice)
    }
    guard wire.defaultChoice < choices.count else { throw .defaultChoiceMissing }
    self.init(
      id: try Wire.id(wire.id), topic: topic, choices: choices,
      defaultChoice: choices[Int(wire.defaultChoice)],
      expiration: wire.hasExpiration ? try Wire.time(wire.expiration) : nil)
  }
}

extension QuestionHeader {
  var wire: PBQuestionHeader {
    .with {
      $0.id = Data(id.bytes)
      $0.child = child.rawValue
      $0.app = app.rawValue
      $0.subjects = Data(subjects)
      $0.choices = choices.map(\.wire)
      if let expiration { $0.expiration = expiration.milliseconds }
    }
  }

  init(_ wire: PBQuestionHeader) throws(Problem) {
    guard wire.app.utf8.count <= Limits.identifierBytes, wire.subjects.count <= Limits.subjectBytes
    else {
      throw .tooLarge
    }
    self.init(
      id: try Wire.id(wire.id), child: PersonID(wire.child), app: AppID(wire.app),
      subjects: [UInt8](wire.subjects),
      choices: try Wire.map(wire.choices, limit: Limits.choices) { choice throws(Problem) in
        try ChoiceHeader(choice)
      },
      expiration: wire.hasExpiration ? try Wire.time(wire.expiration) : nil)
  }
}
