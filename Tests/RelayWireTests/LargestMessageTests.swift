import FamilyCore
import FamilyModel
import RelayWire
import Testing

/// Messages with every part at its limit.
@Suite struct LargestMessageTests {
  private static let id = ID128(high: .max, low: .max)
  private static let device = DeviceAddress(family: FamilyID(.max), device: DeviceID(.max))
  private static let person = PersonID(.max)
  private static func content(_ count: Int) -> Content {
    .sealed(.init(repeating: 7, count: count))
  }
  private static let proof = [UInt8](repeating: 6, count: 64)
  private static let key = [UInt8](repeating: 5, count: 32)

  private static let header = QuestionHeader(
    id: id, child: person, app: AppID(.init(repeating: "a", count: Limits.identifierBytes)),
    subjects: .init(repeating: 9, count: Limits.subjectBytes),
    choices: (0..<Limits.choices).map { number in
      let id = String(repeating: "c", count: Limits.identifierBytes - 2) + "\(10 + number)"
      return ChoiceHeader(id: id, answer: .denial)
    }, expiration: Instant(milliseconds: Limits.times.upperBound))

  private static let signature: Signature = {
    let hash = ChainHash(bytes: .init(repeating: 0xFF, count: ChainHash.byteCount))!
    let position = ChainPosition(seq: .max, hash: hash)
    let heads = (0..<Limits.audienceHeads).map { _ in
      AudienceHead(Audience(rawValue: .max), position)
    }
    return Signature(
      signer: DeviceID(.max),
      knowing: Knowledge(family: position, audience: position, heads: heads), bytes: proof)
  }()

  private static let bodies: [(Command, Event.Body)] = {
    let choice = header.choices[0]
    let (long, short) = (content(Limits.contentBytes), content(Limits.shortContentBytes))
    let account = content(Limits.accountContentBytes)
    let decision = Decision(question: id, choice: choice)
    let roster = Roster(
      persons: (0..<Limits.persons).map { number in
        Person(
          id: PersonID(Limits.largestNumber - UInt32(number)), role: .adult,
          displayName: .init(repeating: "n", count: Limits.titleBytes))
      },
      devices: (0..<Limits.devices).map { number in
        Device(
          id: DeviceID(Limits.largestNumber - UInt32(number)), person: person, publicKey: key,
          signingKey: key, agreementKey: key)
      })
    let wraps = (0..<Limits.keyWraps).map { _ in
      KeyWrap(key: id, reader: key, bytes: .init(repeating: 3, count: Limits.keyWrapBytes))
    }
    return [
      (.ask(header, long), .asked(header, long)),
      (
        .answerInPerson(header, long, choice: choice.id, proof: proof),
        .answeredInPerson(header, long, decision, proof: proof)
      ),
      (.post(child: person, short), .posted(child: person, short)),
      (.setAge(person, account, proof: proof), .ageSet(person, account, proof: proof)),
      (
        .changeSettings(person, account, proof: proof),
        .settingsChanged(person, account, proof: proof)
      ),
      (.setRoster(roster), .rosterChanged(roster)),
      (.shareKeys(Audience(rawValue: .max), wraps), .keysShared(wraps)),
    ]
  }()

  @Test("X2: the event of the largest command fits into a frame, as does its page and broadcast")
  func pages() throws {
    for (command, body) in Self.bodies {
      let request = Envelope(
        device: Self.device, requestID: .max,
        request: .command(Self.id, command, Self.signature)
      ).encode()
      #expect(request.count <= Limits.frameBytes)
      _ = try request.withUnsafeBytes { try Envelope.decode($0) }
      let event = Event(
        seq: .max, previous: .max, audience: Audience(rawValue: .max), command: Self.id,
        device: DeviceID(.max), at: Instant(milliseconds: Limits.times.upperBound), body: body,
        signature: Self.signature, hash: Self.signature.known.family.hash)
      #expect(try Event.decode(event.encode()) == event)
      let page = ReplyEnvelope(
        device: Self.device, requestID: .max,
        reply: .page(Audience(rawValue: .max), [event], more: true)
      ).encode()
      #expect(page.count <= Limits.frameBytes)
      #expect(Broadcast.event(event).encode().count + 64 <= Limits.frameBytes)
    }
  }

  @Test("X2: a handle whose canonical form no record can carry is refused when it is received")
  func handles() throws {
    let long = [
      Handle(.init(repeating: "\u{130}", count: Limits.handleBytes / 2), .emailAddress),
      Handle(.init(repeating: "\u{958}", count: Limits.handleBytes / 3), .custom),
    ]
    for handle in long {
      #expect(handle.value.utf8.count <= Limits.handleBytes)
      #expect(handle.canonical.value.utf8.count > Limits.handleBytes)
      let contents: [Content] = [
        .contact(handle, known: true), .withdrawal(.handle(handle, in: nil)),
        .question(
          Question(
            id: Self.id,
            topic: .communication(people: [Subject(handle: handle)], actions: .message))),
      ]
      for content in contents {
        #expect(throws: Problem.handleTooLong) { try Content.sealed(content.bytes).opened() }
      }
    }
    let most = Handle(.init(repeating: "\u{130}", count: 100), .emailAddress)
    let content = Content.contact(most, known: true)
    #expect(try Content.sealed(content.bytes).opened() == content)
  }
}
