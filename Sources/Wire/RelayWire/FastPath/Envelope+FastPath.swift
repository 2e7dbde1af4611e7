import FamilyModel

extension Envelope {
  /// Decodes a question, an answer, a text, a change of contacts or an acknowledgement on the fast
  /// path; `nil` sends the frame to swift-protobuf.
  init?(fastPath bytes: UnsafeRawBufferPointer) {
    var reader = FrameReader(bytes)
    var device = DeviceAddress(family: FamilyID(0), device: DeviceID(0))
    var id: UInt64 = 0
    var commandID: ID128?
    var command: Command?
    var cursors: [Cursor]?
    var version: UInt32 = 0
    var signature: Signature?
    while !reader.isAtEnd {
      switch reader.field(lengths: 1 << 5 | 1 << 6 | 1 << 9 | 1 << Signature.field) {
      case 1: version = reader.uint32() ?? 0
      case 2:
        guard let value = reader.varint() else { return nil }
        device.family = FamilyID(value)
      case 3:
        guard let value = reader.uint32() else { return nil }
        device.device = DeviceID(value)
      case 4:
        guard let value = reader.varint() else { return nil }
        id = value
      case 5:
        guard let value = reader.id() else { return nil }
        commandID = value
      case 6:
        guard let slice = reader.slice(), let value = Command(fastPath: slice) else { return nil }
        command = value
      case 9:
        guard let slice = reader.slice(), let value = Cursor.list(fastPath: slice) else {
          return nil
        }
        cursors = value
      case Signature.field:
        guard let slice = reader.slice(), let value = Signature(fastPath: slice) else { return nil }
        signature = value
      default: return nil
      }
    }
    guard version == Wire.version else { return nil }
    switch (command, commandID, cursors) {
    case (let command?, let commandID?, nil):
      self.init(device: device, requestID: id, request: .command(commandID, command, signature))
    case (nil, _, let cursors?):
      self.init(device: device, requestID: id, request: .acknowledge(cursors))
    default: return nil
    }
  }

  /// Encodes a question, an answer, a text, a change of contacts or an acknowledgement on the fast
  /// path; `nil` for every other request.
  var fastPathBytes: [UInt8]? {
    switch request {
    case .command(let commandID, .ask(let header, .sealed(let content)), let signature):
      FrameWriter.bytes(capacity: 128 + signature.sizeBound + header.sizeBound + content.count) {
        out in
        start(&out)
        out.id(5, commandID)
        out.message(6) { out in
          out.message(4) { out in
            out.header(1, header)
            out.bytes(2, content)
          }
        }
        out.signature(signature)
      }
    case .command(let commandID, .answer(let question, let choice), let signature):
      FrameWriter.bytes(capacity: 160 + signature.sizeBound + choice.utf8.count) { out in
        start(&out)
        out.id(5, commandID)
        out.message(6) { out in
          out.message(7) { out in
            out.id(1, question)
            out.string(2, choice)
          }
        }
        out.signature(signature)
      }
    case .command(let commandID, .post(let child, .sealed(let content)), let signature):
      bytes(commandID, 8, child, content, signature)
    case .command(let commandID, .changeContact(let child, .sealed(let content)), let signature):
      bytes(commandID, 9, child, content, signature)
    case .acknowledge(let cursors):
      FrameWriter.bytes(capacity: 80 + 40 * cursors.count) { out in
        start(&out)
        out.message(9) { out in
          for cursor in cursors {
            out.message(1) { out in
              out.number(1, cursor.audience.rawValue)
              out.number(2, cursor.delivered)
              out.number(3, cursor.read)
            }
          }
        }
      }
    default: nil
    }
  }

  private func bytes(
    _ command: CommandID, _ field: UInt64, _ person: PersonID, _ content: [UInt8],
    _ signature: Signature?
  ) -> [UInt8] {
    FrameWriter.bytes(capacity: 128 + signature.sizeBound + content.count) { out in
      start(&out)
      out.id(5, command)
      out.message(6) { $0.content(field, person, content) }
      out.signature(signature)
    }
  }

  private func start(_ out: inout FrameWriter) {
    out.number(1, UInt64(Wire.version))
    out.number(2, device.family.rawValue)
    out.number(3, UInt64(device.device.rawValue))
    out.number(4, requestID)
  }
}

extension Command {
  fileprivate init?(fastPath bytes: UnsafeRawBufferPointer) {
    var reader = FrameReader(bytes)
    switch reader.field(lengths: 1 << 4 | 1 << 7 | 1 << 8 | 1 << 9) {
    case 4:
      guard let slice = reader.slice(), reader.isAtEnd,
        let (header, content) = QuestionHeader.asked(fastPath: slice)
      else { return nil }
      self = .ask(header, content)
    case 7:
      guard let slice = reader.slice(), reader.isAtEnd else { return nil }
      var answer = FrameReader(slice)
      guard answer.field(lengths: 1 << 1) == 1, let question = answer.id(),
        answer.field(lengths: 1 << 2) == 2, let choice = answer.string(), answer.isAtEnd,
        choice.utf8.count <= Limits.identifierBytes
      else { return nil }
      self = .answer(question, choice: choice)
    case 8:
      guard let slice = reader.slice(), reader.isAtEnd,
        let (child, content) = Content.ofPerson(fastPath: slice)
      else { return nil }
      self = .post(child: child, content)
    case 9:
      guard let slice = reader.slice(), reader.isAtEnd,
        let (child, content) = Content.ofPerson(fastPath: slice)
      else { return nil }
      self = .changeContact(child: child, content)
    default: return nil
    }
  }
}

extension Cursor {
  fileprivate static func list(fastPath bytes: UnsafeRawBufferPointer) -> [Cursor]? {
    var reader = FrameReader(bytes)
    var cursors: [Cursor] = []
    while !reader.isAtEnd {
      guard reader.field(lengths: 1 << 1, repeated: 1 << 1) == 1, let slice = reader.slice(),
        let cursor = Cursor(fastPath: slice), cursors.count < 1 + 2 * Limits.persons
      else { return nil }
      cursors.append(cursor)
    }
    return cursors
  }

  private init?(fastPath bytes: UnsafeRawBufferPointer) {
    var reader = FrameReader(bytes)
    self.init(.family, delivered: 0)
    while !reader.isAtEnd {
      guard let field = reader.field(lengths: 0), let value = reader.varint() else { return nil }
      switch field {
      case 1: audience = Audience(rawValue: value)
      case 2: delivered = value
      case 3: read = value
      default: return nil
      }
    }
  }
}
