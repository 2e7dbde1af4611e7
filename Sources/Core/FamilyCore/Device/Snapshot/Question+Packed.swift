import FamilyModel

extension Question: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(id)
    packer.add(topic)
    packer.add(choices)
    packer.add(defaultChoice)
    packer.add(expiration)
  }
  init(_ packed: inout Unpacker) {
    let id = packed.value() as QuestionID
    let topic = packed.value() as Topic
    let choices = packed.value() as [Choice]
    let defaultChoice = packed.value() as Choice
    self.init(
      id: id, topic: topic, choices: choices, defaultChoice: defaultChoice,
      expiration: packed.value())
  }
}

extension Topic: Packable {
  func pack(_ packer: inout Packer) {
    switch self {
    case .communication(let people, let actions):
      packer.add(1 as UInt64)
      packer.add(people)
      packer.add(actions.rawValue)
    case .significantUpdate(let description):
      packer.add(0 as UInt64)
      packer.add(description)
    case .browse(let site):
      packer.add(2 as UInt64)
      packer.add(site.name)
    case .authorization: packer.add(3 as UInt64)
    }
  }
  init(_ packed: inout Unpacker) {
    switch packed.number() {
    case 0: self = .significantUpdate(description: packed.text())
    case 1:
      let people = packed.value() as [Subject]
      self = .communication(people: people, actions: Actions(rawValue: packed.value()))
    case 3: self = .authorization
    default:
      if let site = Site(packed.text()) {
        self = .browse(site)
      } else {
        packed.fail()
        self = .significantUpdate(description: "")
      }
    }
  }
}

extension Subject: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(handle)
    packer.add(name)
    packer.add(avatar)
  }
  init(_ packed: inout Unpacker) {
    let handle = packed.value() as Handle
    let name = packed.value() as NameParts?
    self.init(handle: handle, name: name, avatar: packed.value())
  }
}

extension NameParts: Packable {
  func pack(_ packer: inout Packer) {
    for part in [prefix, given, middle, family, suffix, nickname] { packer.add(part) }
  }
  init(_ packed: inout Unpacker) {
    self.init()
    prefix = packed.text()
    given = packed.text()
    middle = packed.text()
    family = packed.text()
    suffix = packed.text()
    nickname = packed.text()
  }
}

extension Avatar: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(mediaType)
    packer.add(bytes)
  }
  init(_ packed: inout Unpacker) {
    let mediaType = packed.text()
    self.init(mediaType: mediaType, bytes: packed.array())
  }
}

extension Choice: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(id)
    packer.add(title)
    packer.add(UInt64(answer.rawValue))
    packer.add(end)
  }
  init(_ packed: inout Unpacker) {
    let id = packed.text()
    let title = packed.text()
    let answer = packed.raw(Answer.init) ?? .denial
    self.init(id: id, title: title, answer: answer, end: packed.value())
  }
}

extension ChoiceEnd: Packable {
  func pack(_ packer: inout Packer) {
    switch self {
    case .after(let duration):
      packer.add(true)
      packer.add(UInt64(bitPattern: duration.count))
    case .at(let moment):
      packer.add(false)
      packer.add(moment)
    }
  }
  init(_ packed: inout Unpacker) {
    self =
      packed.bool()
      ? .after(Milliseconds(Int64(bitPattern: packed.number()))) : .at(packed.value())
  }
}

extension QuestionState: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(header)
    packer.add(question)
    packer.add(seq)
    packer.add(phase)
    packer.add(lastAsked)
  }
  init(_ packed: inout Unpacker) {
    let header = packed.value() as QuestionHeader
    let question = packed.value() as Question?
    let seq = packed.number()
    let phase = packed.value() as Phase
    self.init(
      header: header, question: question, seq: seq, phase: phase, lastAsked: packed.value())
  }
}

extension QuestionState.Phase: Packable {
  func pack(_ packer: inout Packer) {
    switch self {
    case .open: packer.add(0 as UInt64)
    case .cancelled: packer.add(1 as UInt64)
    case .answered(let choice, let device, let at):
      packer.add(2 as UInt64)
      packer.add(choice)
      packer.add(device)
      packer.add(at)
    }
  }
  init(_ packed: inout Unpacker) {
    switch packed.number() {
    case 0: self = .open
    case 1: self = .cancelled
    case 2:
      let choice = packed.value() as ChoiceHeader
      let device = packed.value() as DeviceID
      self = .answered(choice, by: device, at: packed.value())
    default:
      packed.fail()
      self = .open
    }
  }
}
