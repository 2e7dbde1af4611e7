import FamilyCore
import FamilyModel
import RelayWire

/// Runs a guardian's and a child's machine against a hostile relay, while their apps and people
/// act.
func fuzzDevice(_ bytes: UnsafeRawBufferPointer) {
  var input = Bytes(bytes)
  var devices = FuzzedDevices(isSigned: input.byte() & 1 == 1)
  var steps = 0
  while !input.isAtEnd, steps < 64 {
    steps += 1
    devices.step(&input)
  }
  _ = devices.guardian.link.position
  _ = devices.child.link.pendingCommands
}

/// The machines of a guardian's and a child's device.
private struct FuzzedDevices {
  var guardian: GuardianMachine
  var child: ChildMachine
  private var now = Instant(milliseconds: 1_000_000)

  init(isSigned: Bool) {
    guardian = GuardianMachine(
      DeviceAddress(family: FuzzedFamily.id, device: DeviceID(10)), of: PersonID(1),
      security: isSigned ? FuzzVault.security(10) : nil, ids: IDSource(seed: 1))
    child = ChildMachine(
      DeviceAddress(family: FuzzedFamily.id, device: DeviceID(30)), of: PersonID(3),
      apps: [AppID("a")], security: isSigned ? FuzzVault.security(30) : nil,
      ids: IDSource(seed: 2), digest: { _, _ in [1] })
    stepGuardian(.connected)
    stepChild(.connected)
  }

  private mutating func stepGuardian(_ input: GuardianMachine.Input) {
    write(guardian.step(input, now: now))
  }

  private mutating func stepChild(_ input: ChildMachine.Input) {
    let effects = child.step(input, now: now)
    write(effects)
    for case .requestAdmission(let id) in effects { stepChild(.admitted(id)) }
  }

  /// Takes one step that the input selects.
  mutating func step(_ input: inout Bytes) {
    switch input.pick(8) {
    case 0, 1:
      let chunk = input.chunk()
      guard let reply = try? chunk.withUnsafeBytes({ try ReplyEnvelope.decode($0) }) else { return }
      stepGuardian(.reply(reply.requestID, reply.reply.opened()))
      stepChild(.reply(reply.requestID, reply.reply.opened()))
    case 2, 3:
      guard let broadcast = try? Broadcast.decode(input.chunk()).opened() else { return }
      stepGuardian(.broadcast(broadcast))
      stepChild(.broadcast(broadcast))
    case 4:
      now = now + .milliseconds(500) * Int(input.byte())
      stepGuardian(.timer)
      stepChild(.timer)
    case 5:
      let chunk = input.chunk()
      guard let request = try? chunk.withUnsafeBytes({ try AppRequest.decode($0) }) else { return }
      stepChild(.app(AppID("a"), request))
    case 6:
      let prompt = UInt64(input.byte())
      let answers: [PromptAnswer] = [
        .cancel, .askByMessage, .inPerson, .send(names: []), .remind, .acknowledge,
        .share, .dontShare, .passcode("258013", choice: nil),
      ]
      stepChild(.answered(prompt: prompt, answers[input.pick(answers.count)]))
    default:
      for bubble in guardian.open(now: now) {
        stepGuardian(.answer(bubble.question.id, choice: bubble.question.choices[0].id))
      }
    }
  }
}

/// Encodes all records and requests of the effects, which must not trap.
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
