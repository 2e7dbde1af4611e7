import FamilyModel

extension Event {
  /// Encodes a question, an answer, a text or a change of contacts on the fast path; `nil` for every
  /// other event.
  var fastPathBytes: [UInt8]? {
    switch body {
    case .posted(let child, .sealed(let content)): bytes(17, child, content)
    case .contactChanged(let child, .sealed(let content)): bytes(18, child, content)
    case .asked(let header, .sealed(let content)):
      FrameWriter.bytes(capacity: 168 + signature.sizeBound + header.sizeBound + content.count) {
        out in
        start(&out)
        out.message(13) { out in
          out.header(1, header)
          out.bytes(2, content)
        }
        out.signature(signature)
        out.hash(62, hash)
      }
    case .decided(let decision):
      FrameWriter.bytes(capacity: 232 + signature.sizeBound + decision.choice.id.utf8.count) {
        out in
        start(&out)
        out.message(16) { out in
          out.id(1, decision.question)
          out.choice(2, decision.choice)
        }
        out.signature(signature)
        out.hash(62, hash)
      }
    default: nil
    }
  }

  private func bytes(_ field: UInt64, _ person: PersonID, _ content: [UInt8]) -> [UInt8] {
    FrameWriter.bytes(capacity: 168 + signature.sizeBound + content.count) { out in
      start(&out)
      out.content(field, person, content)
      out.signature(signature)
      out.hash(62, hash)
    }
  }

  private func start(_ out: inout FrameWriter) {
    out.number(1, seq)
    out.number(2, previous)
    out.number(3, audience.rawValue)
    out.id(4, command)
    out.number(5, UInt64(device.rawValue))
    out.number(6, UInt64(bitPattern: at.milliseconds))
  }

  /// Decodes a question, an answer, a text or a change of contacts on the fast path; `nil` sends the
  /// bytes to swift-protobuf.
  init?(fastPath bytes: UnsafeRawBufferPointer) {
    var reader = FrameReader(bytes)
    var (seq, previous, audience, at): (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    var command: CommandID?
    var device: UInt32 = 0
    var body: Body?
    var signature: Signature?
    var hash = ChainHash()
    while !reader.isAtEnd {
      switch reader.field(
        lengths: 1 << 4 | 1 << 13 | 1 << 16 | 1 << 17 | 1 << 18 | 1 << Signature.field | 1 << 62)
      {
      case 1:
        guard let value = reader.varint() else { return nil }
        seq = value
      case 2:
        guard let value = reader.varint() else { return nil }
        previous = value
      case 3:
        guard let value = reader.varint() else { return nil }
        audience = value
      case 4:
        guard let value = reader.id() else { return nil }
        command = value
      case 5:
        guard let value = reader.uint32() else { return nil }
        device = value
      case 6:
        guard let value = reader.varint() else { return nil }
        at = value
      case 13:
        guard body == nil, let slice = reader.slice(),
          let (header, content) = QuestionHeader.asked(fastPath: slice)
        else { return nil }
        body = .asked(header, content)
      case 16:
        guard body == nil, let slice = reader.slice(), let decision = Decision(fastPath: slice)
        else { return nil }
        body = .decided(decision)
      case 17:
        guard body == nil, let slice = reader.slice(),
          let (child, content) = Content.ofPerson(fastPath: slice)
        else { return nil }
        body = .posted(child: child, content)
      case 18:
        guard body == nil, let slice = reader.slice(),
          let (child, content) = Content.ofPerson(fastPath: slice)
        else { return nil }
        body = .contactChanged(child: child, content)
      case Signature.field:
        guard let slice = reader.slice(), let value = Signature(fastPath: slice) else { return nil }
        signature = value
      case 62:
        guard let value = reader.hash() else { return nil }
        hash = value
      default: return nil
      }
    }
    guard let command, let body, let at = Wire.time(bits: at) else { return nil }
    self.init(
      seq: seq, previous: previous, audience: Audience(rawValue: audience), command: command,
      device: DeviceID(device), at: at, body: body,
      signature: signature, hash: hash)
  }
}

extension Decision {
  fileprivate init?(fastPath bytes: UnsafeRawBufferPointer) {
    var reader = FrameReader(bytes)
    guard reader.field(lengths: 1 << 1) == 1, let question = reader.id(),
      reader.field(lengths: 1 << 2) == 2, let slice = reader.slice(), reader.isAtEnd,
      let choice = ChoiceHeader(fastPath: slice)
    else { return nil }
    self.init(question: question, choice: choice)
  }
}

extension Content {
  /// Decodes the message `ForPerson` of a text or of a change of contacts.
  static func ofPerson(fastPath bytes: UnsafeRawBufferPointer) -> (PersonID, Content)? {
    var reader = FrameReader(bytes)
    var person: UInt32 = 0
    var content: [UInt8] = []
    while !reader.isAtEnd {
      switch reader.field(lengths: 1 << 2) {
      case 1:
        guard let value = reader.uint32() else { return nil }
        person = value
      case 2:
        guard let slice = reader.slice(), slice.count <= Limits.shortContentBytes else {
          return nil
        }
        content = [UInt8](slice)
      default: return nil
      }
    }
    return (PersonID(person), .sealed(content))
  }
}

extension QuestionHeader {
  /// An upper bound of the encoded size in bytes.
  var sizeBound: Int { 64 + parts.count }

  /// Decodes the message `Asked`: a header and a sealed content.
  static func asked(fastPath bytes: UnsafeRawBufferPointer) -> (QuestionHeader, Content)? {
    var reader = FrameReader(bytes)
    guard reader.field(lengths: 1 << 1) == 1, let slice = reader.slice(),
      let header = QuestionHeader(fastPath: slice)
    else { return nil }
    if reader.isAtEnd { return (header, .sealed([])) }
    guard reader.field(lengths: 1 << 2) == 2, let content = reader.slice(), reader.isAtEnd,
      content.count <= Limits.contentBytes
    else { return nil }
    return (header, .sealed([UInt8](content)))
  }

  private init?(fastPath bytes: UnsafeRawBufferPointer) {
    var reader = FrameReader(bytes)
    var id: QuestionID?
    var child: UInt32 = 0
    var expiration: Instant?
    /// The range of fields 3 to 5, and the size of their canonical encoding. Equal sizes prove that
    /// the range is canonical.
    var (parts, written) = (0..<0, 0)
    var choices = 0
    var last: UInt64 = 0
    while !reader.isAtEnd {
      let start = reader.position
      guard let field = reader.field(lengths: 1 << 1 | 1 << 3 | 1 << 4 | 1 << 5, repeated: 1 << 5),
        field >= last
      else { return nil }
      last = field
      switch field {
      case 1:
        guard let value = reader.id() else { return nil }
        id = value
        continue
      case 2:
        guard let value = reader.uint32() else { return nil }
        child = value
        continue
      case 3:
        guard let app = reader.text(), 1...Limits.identifierBytes ~= app.count else { return nil }
        written += FrameWriter.size(app.count)
      case 4:
        guard let subjects = reader.slice(), 1...Limits.subjectBytes ~= subjects.count else {
          return nil
        }
        written += FrameWriter.size(subjects.count)
      case 5:
        guard let slice = reader.slice(), let size = ChoiceHeader.size(fastPath: slice),
          choices < Limits.choices
        else { return nil }
        choices += 1
        written += size
      case 6:
        guard let value = reader.varint(), let time = Wire.time(bits: value) else { return nil }
        expiration = time
        continue
      default: return nil
      }
      parts = (parts.isEmpty ? start : parts.lowerBound)..<reader.position
    }
    guard let id, parts.count == written else { return nil }
    self.init(
      id: id, child: PersonID(child), parts: [UInt8](reader.bytes(parts)), expiration: expiration)
  }
}

extension ChoiceHeader {
  /// The size in bytes of the choice's canonical field; `nil` if the bytes are not a choice with an
  /// id.
  static func size(fastPath bytes: UnsafeRawBufferPointer) -> Int? {
    var reader = FrameReader(bytes)
    guard reader.field(lengths: 1 << 1) == 1, let id = reader.text(),
      1...Limits.identifierBytes ~= id.count, reader.field(lengths: 0) == 3,
      let number = reader.varint(), 1...2 ~= number, reader.isAtEnd
    else { return nil }
    return FrameWriter.size(FrameWriter.size(id.count) + 2)
  }

  init?(fastPath bytes: UnsafeRawBufferPointer) {
    var reader = FrameReader(bytes)
    guard reader.field(lengths: 1 << 1) == 1, let id = reader.string(),
      id.utf8.count <= Limits.identifierBytes, reader.field(lengths: 0) == 3,
      let number = reader.varint(), let answer = UInt8(exactly: number).flatMap(Answer.init),
      reader.isAtEnd
    else { return nil }
    self.init(id: id, answer: answer)
  }
}

extension FrameWriter {
  mutating func header(_ field: UInt64, _ header: QuestionHeader) {
    message(field) { out in
      out.id(1, header.id)
      out.number(2, UInt64(header.child.rawValue))
      header.parts.withUnsafeBytes { out.raw($0) }
      if let expiration = header.expiration {
        out.numberAlways(6, UInt64(bitPattern: expiration.milliseconds))
      }
    }
  }

  mutating func content(_ field: UInt64, _ person: PersonID, _ content: [UInt8]) {
    message(field) { out in
      out.number(1, UInt64(person.rawValue))
      out.bytes(2, content)
    }
  }

  mutating func choice(_ field: UInt64, _ choice: ChoiceHeader) {
    message(field) { out in
      out.string(1, choice.id)
      out.number(3, UInt64(choice.answer.rawValue))
    }
  }
}
