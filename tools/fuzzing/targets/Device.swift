import FamilyCore
import FamilyModel
import RelayWire

/// A relay that says anything, to a guardian's and to a child's device that do things.
func fuzzDevice(_ bytes: UnsafeRawBufferPointer) {
  var input = Bytes(bytes)
  let isSigned = input.byte() & 1 == 1
  var guardian = GuardianMachine(
    DeviceAddress(family: FuzzedFamily.id, device: DeviceID(10)), of: PersonID(1),
    security: isSigned ? FuzzVault.security(10) : nil, ids: IDSource(seed: 1))
  var child = ChildMachine(
    DeviceAddress(family: FuzzedFamily.id, device: DeviceID(30)), of: PersonID(3),
    apps: [AppID("a")], security: isSigned ? FuzzVault.security(30) : nil, ids: IDSource(seed: 2),
    digest: { _, _ in [1] })
  var now = Instant(milliseconds: 1_000_000)
  write(guardian.step(.connected, now: now))
  write(child.step(.connected, now: now))
  var steps = 0
  while !input.isAtEnd, steps < 64 {
    steps += 1
    switch input.pick(8) {
    case 0, 1:
      let chunk = input.chunk()
      guard let reply = try? chunk.withUnsafeBytes({ try ReplyEnvelope.decode($0) }) else {
        continue
      }
      write(guardian.step(.reply(reply.requestID, reply.reply.opened()), now: now))
      write(child.step(.reply(reply.requestID, reply.reply.opened()), now: now))
    case 2, 3:
      guard let broadcast = try? Broadcast.decode(input.chunk()).opened() else { continue }
      write(guardian.step(.broadcast(broadcast), now: now))
      write(child.step(.broadcast(broadcast), now: now))
    case 4:
      now = now + Int64(input.byte()) * 500
      write(guardian.step(.timer, now: now))
      write(child.step(.timer, now: now))
    case 5:
      let chunk = input.chunk()
      guard let request = try? chunk.withUnsafeBytes({ try AppRequest.decode($0) }) else {
        continue
      }
      write(child.step(.app(AppID("a"), request), now: now))
    case 6:
      let prompt = UInt64(input.byte())
      let answers: [PromptAnswer] = [
        .cancel, .askByMessage, .inPerson, .send(names: []), .remind, .acknowledge,
        .share, .dontShare, .passcode("2580", choice: nil),
      ]
      write(child.step(.answered(prompt: prompt, answers[input.pick(answers.count)]), now: now))
    default:
      for bubble in guardian.open(now: now) {
        write(
          guardian.step(
            .answer(bubble.question.id, choice: bubble.question.choices[0].id), now: now))
      }
    }
  }
  _ = guardian.link.position
  _ = child.link.waiting
}

/// Everything that a machine wants written or sent can be written.
func write(_ effects: [DeviceEffect]) {
  for effect in effects {
    switch effect {
    case .persist(let changes):
      for case .put(let record) in changes { _ = (record.key.bytes, record.value) }
    case .send(let id, let request):
      let device = DeviceAddress(family: FamilyID(1), device: DeviceID(1))
      _ = Envelope(device: device, requestID: id, request: request).encode()
    default: break
    }
  }
}
