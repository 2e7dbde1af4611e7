public import FamilyModel
import Foundation
import SwiftProtobuf

extension Content {
  /// The sealed bytes, or the encoding of an opened content.
  public var bytes: [UInt8] {
    var message = PBContent()
    switch self {
    case .sealed(let bytes): return bytes
    case .erased: return []
    case .question(let question): message.question = question.wire
    case .text(let text): message.text = text
    case .contact(let handle, let known):
      message.contact = .with {
        $0.handle = handle.wire
        $0.known = known
      }
    case .contactName(let handle, let name):
      message.contactName = .with {
        $0.handle = handle.wire
        $0.name = name
      }
    case .account(let account): message.account = account.wire
    case .withdrawal(let withdrawal): message.withdrawal = withdrawal.wire
    case .ageMemory(let app, let answer): message.ageMemory = wire(app, answer)
    case .ageSettings(let settings): message.ageSettings = settings.wire
    case .apps(let apps): message.appList = .with { $0.apps = apps.map(\.wire) }
    case .webRules(let rules): message.webRules = rules.wire
    case .communicationSafety(let setting):
      message.communicationSafety = UInt32(setting.rawValue)
    case .webUse(let use): message.webUse = use.wire
    case .webUseDeleted(let site): message.webUseDeletion = .with { $0.site = site?.name ?? "" }
    }
    return Wire.encode(message)
  }

  /// The content of an event or command, of at most `limit` bytes.
  init(carried bytes: Data, limit: Int = Limits.contentBytes) throws(Problem) {
    guard bytes.count <= limit else { throw .tooLarge }
    self = .sealed([UInt8](bytes))
  }

  /// Decodes a content whose bytes are not encrypted. Returns an opened content unchanged.
  ///
  /// - Throws: `malformed`, `tooLarge`, or the problem of an invalid value.
  public func opened() throws(Problem) -> Content {
    guard case .sealed(let bytes) = self else { return self }
    let message = try Wire.parse(PBContent.self, bytes)
    switch message.body {
    case .question(let question): return .question(try Question(question).withoutInvalidImages)
    case .text(let text):
      guard text.utf8.count <= Limits.textBytes else { throw .tooLarge }
      return .text(text)
    case .contact(let contact):
      return .contact(try Handle(contact.handle), known: contact.known)
    case .contactName(let contact):
      guard contact.name.utf8.count <= Limits.titleBytes else { throw .tooLarge }
      return .contactName(try Handle(contact.handle), contact.name)
    case .account(let account): return .account(try Account(account))
    case .withdrawal(let withdrawal): return .withdrawal(try Withdrawal(withdrawal))
    case .ageMemory(let memory): return try RelayWire.ageMemory(memory)
    case .ageSettings(let settings): return .ageSettings(try AgeSettings(settings))
    case .appList(let list): return .apps(try appList(list))
    case .webRules(let rules): return .webRules(try WebRules(rules))
    case .communicationSafety(let setting):
      return .communicationSafety(try CommunicationSafety(wire: setting))
    case .webUse(let use): return .webUse(try WebUse(use))
    case .webUseDeletion(let deletion):
      return .webUseDeleted(
        deletion.site.isEmpty ? nil : try Wire.require(Site(deletion.site)))
    case nil: throw .malformed
    }
  }

  /// The decoded content. A content of a kind that this version does not know stays encoded; an
  /// invalid content is `nil`.
  package var openedIfKnown: Content? { (try? opened()) ?? (isOfNewerKind ? self : nil) }

  /// Whether the bytes encode a content of a kind that this version does not know: a field of another
  /// number than those of the known kinds, and no known one.
  package var isOfNewerKind: Bool {
    guard case .sealed(let bytes) = self, let message = try? Wire.parse(PBContent.self, bytes)
    else { return false }
    return message.body == nil && !message.unknownFields.data.isEmpty
  }

  /// The decoded content, or `self` if decoding fails.
  var openedIfPossible: Content { (try? opened()) ?? self }
}

extension Question {
  /// The question without avatars that are not valid images.
  ///
  /// Our devices send no invalid image. The question of another implementation must still reach the
  /// guardians.
  var withoutInvalidImages: Question {
    var question = self
    switch topic {
    case .communication(var people, let actions):
      for index in people.indices where (try? people[index].avatar?.validate()) == nil {
        people[index].avatar = nil
      }
      question.topic = .communication(people: people, actions: actions)
    case .significantUpdate, .browse, .authorization: break
    }
    return question
  }
}

extension Account {
  var wire: PBAccount {
    .with {
      if let birthdate { $0.birthdate = birthdate.wire }
      $0.region = region
      $0.declaration = UInt32(declaration.rawValue)
      $0.timeZone = timeZone
    }
  }

  init(_ wire: PBAccount) throws(Problem) {
    guard wire.region.utf8.count <= Limits.identifierBytes,
      wire.timeZone.utf8.count <= Limits.identifierBytes
    else { throw .tooLarge }
    self.init(
      birthdate: wire.hasBirthdate ? try Day(wire.birthdate) : nil, region: wire.region,
      declaration: try Declaration(wire: wire.declaration), timeZone: wire.timeZone)
  }
}

extension Withdrawal {
  var wire: PBWithdrawal {
    .with {
      switch self {
      case .handle(let handle, let app):
        $0.handle = handle.wire
        if let app { $0.app = app.rawValue }
      case .consent(let app): $0.app = app.rawValue
      case .consentGiven(let app):
        $0.app = app.rawValue
        $0.given = true
      }
    }
  }

  init(_ wire: PBWithdrawal) throws(Problem) {
    guard wire.app.utf8.count <= Limits.identifierBytes else { throw .tooLarge }
    if wire.hasHandle {
      self = .handle(try Handle(wire.handle), in: wire.hasApp ? AppID(wire.app) : nil)
    } else {
      guard wire.hasApp else { throw .malformed }
      self = wire.given ? .consentGiven(AppID(wire.app)) : .consent(AppID(wire.app))
    }
  }
}

extension Event {
  /// The event with its content decoded if the content is not encrypted.
  public func opened() -> Event {
    var event = self
    switch body {
    case .accountChanged(let person, let content):
      event.body = .accountChanged(person, content.openedIfPossible)
    case .asked(let header, let content): event.body = .asked(header, content.openedIfPossible)
    case .posted(let child, let content):
      event.body = .posted(child: child, content.openedIfPossible)
    case .contactChanged(let child, let content):
      event.body = .contactChanged(child: child, content.openedIfPossible)
    case .answeredInPerson(let header, let content, let decision, let proof):
      event.body = .answeredInPerson(header, content.openedIfPossible, decision, proof: proof)
    case .withdrawn(let child, let content):
      event.body = .withdrawn(child: child, content.openedIfPossible)
    case .ageNoted(let person, let content):
      event.body = .ageNoted(person, content.openedIfPossible)
    case .ageSet(let person, let content, let proof):
      event.body = .ageSet(person, content.openedIfPossible, proof: proof)
    case .settingsChanged(let child, let content, let proof):
      event.body = .settingsChanged(child, content.openedIfPossible, proof: proof)
    case .rosterChanged, .limitsChanged, .reminded, .cancelled, .decided, .passcodeChanged,
      .keysShared, .complained, .invited, .joinRequested, .beat, .opaque:
      break
    }
    return event
  }
}

extension Broadcast {
  /// The broadcast with its event's content decoded if the content is not encrypted.
  public func opened() -> Broadcast {
    if case .event(let event) = self { .event(event.opened()) } else { self }
  }
}

extension Reply {
  /// The reply with those contents of its events decoded that are not encrypted.
  public func opened() -> Reply {
    guard case .page(let audience, let events, let more) = self else { return self }
    return .page(audience, events.map { $0.opened() }, more: more)
  }
}
