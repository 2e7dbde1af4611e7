import FamilyCore
import FamilyModel
import FamilyTrust

/// An app machine that receives one approval after another, each about one handle.
final class BenchApp {
  private var machine: AppMachine
  private var entry: AppEntry

  init(verifies: Bool) {
    let (keys, family, child) = (DeviceKeys(), FamilyID(1), PersonID(2))
    let (app, vault) = (AppID("example.landmarks"), KeyVault(keys))
    let device = Device(
      id: DeviceID(1), person: PersonID(1), publicKey: Array(repeating: 1, count: 32), keys: keys)
    let roster = Roster(
      persons: [
        Person(id: PersonID(1), role: .organizer, displayName: "Rosa"),
        Person(id: child, role: .child, displayName: "Emily"),
      ], devices: [device])
    func sign(
      _ body: Event.Body, _ id: CommandID, _ audience: Audience, _ basedOnSeq: UInt64,
      _ question: QuestionHeader?
    ) -> Signature {
      let bytes = SignedBytes.of(
        body, id, in: family, audience, by: device.id,
        knowing: Knowledge(family: ChainPosition(seq: basedOnSeq)), question: question,
        digest: KeyVault.digest, bytes: vault.bytes)
      return Signature(signer: device.id, basedOnSeq: basedOnSeq, bytes: vault.sign(bytes))
    }
    let question = Question(
      id: QuestionID(high: 1, low: 1),
      topic: .communication(
        people: [Subject(handle: Handle("dragonslayer42", .custom))], actions: .chat))
    let tags = vault.tags(of: question, in: app, vault.makeKey())
    let header = QuestionHeader(
      id: question.id, child: child, app: AppID(""), subjects: vault.subjects(tags),
      choices: question.choices.map { ChoiceHeader(id: $0.id, answer: $0.answer) }, expiration: nil)
    let decided = Event.Body.decided(Decision(question: question.id, choice: header.choices[0]))
    let (first, second) = (CommandID(high: 1 << 16, low: 1), CommandID(high: 2 << 16, low: 1))
    let event = Event(
      seq: 5, previous: 4, audience: .conversation(child), command: second, device: device.id,
      at: Instant(milliseconds: 1), body: decided,
      signature: sign(decided, second, .conversation(child), 1, header))
    entry = AppEntry(
      position: 0, body: .response(question, .approve),
      evidence: [Evidence(event: event, question: header, tags: tags)])
    let says = AppSecurity(family: family, child: child, organizerKey: keys.signingKey)
    machine = AppMachine(app, trusting: verifies ? (says, KeyVault.Public()) : nil)
    let proof = RosterProof(
      seq: 1, command: first,
      signature: sign(.rosterChanged(roster), first, .family, 0, nil),
      roster: roster.withoutNames, hiddenDigest: KeyVault.digest(roster.hiddenBytes))
    // The machine accepts entries only after the device has answered its attachment.
    _ = machine.step(.connected)
    _ = machine.step(.reply(.attached(acknowledged: 0)))
    let effects = machine.step(.reply(.roster(proof)))
    precondition(!effects.contains { if case .rejected = $0 { true } else { false } })
  }

  /// Receives and consumes the next response.
  ///
  /// - Returns: Whether the machine delivered the response to the app.
  func receiveResponse() -> Bool {
    _ = machine.step(.subscribe(.communication))
    entry.position += 1
    let effects = machine.step(.reply(.entry(entry)))
    _ = machine.step(.consumed(entry.position))
    return effects.contains { if case .deliver = $0 { true } else { false } }
  }
}
