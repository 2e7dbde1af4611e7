import FamilyCore
import FamilyModel
import History
import RelayStore

/// The state that honest members must have in common at the end of a run with a dishonest one.
extension World {
  /// Whether the device is in the roster as planned. A dishonest guardian may remove a device, or
  /// give its number to another one.
  func isPlanned(_ device: SimulatedDevice, in roster: Roster) -> Bool {
    guard let member, device.address.family == member.family else {
      return roster.device(device.plan.id) != nil
    }
    guard device !== devices[member.index], let entry = roster.device(device.plan.id),
      let role = roster.role(of: entry.person)
    else { return false }
    return entry.person == device.plan.person.id && entry.publicKey == device.key
      && entry.signingKey == device.vault.signingKey
      && entry.agreementKey == device.vault.agreementKey
      && role.isGuardian == device.plan.isGuardians
      && (role == .child) == (device.plan.person.role == .child)
  }

  /// A device's state as its disk alone gives it.
  func restoredLink(_ device: SimulatedDevice) -> DeviceLink {
    let records = device.disk.records()
    let ids = IDSource(seed: 1)
    guard device.plan.isGuardians else {
      return ChildMachine(
        device.address, of: device.plan.person.id, apps: Scenario.apps,
        manifests: Scenario.manifests, security: security(device), restoring: records, ids: ids
      ).link
    }
    return GuardianMachine(
      device.address, of: device.plan.person.id, security: security(device), restoring: records,
      ids: ids
    ).link
  }

  /// The first difference between honest members of the dishonest one's family; `nil`
  /// without one. Without a difference the verified events are recorded.
  func disagreement() -> String? {
    guard let member else { return nil }
    if now < scenario.lastAttack + .seconds(1) { return "the member's acts" }
    member.read(relay.disk.intactEvents(of: member.family))
    guard case .rosterChanged(let roster)? = member.log.last(where: { $0.body.isRoster })?.body
    else { return nil }
    var views: [Audience: (name: String, view: AudienceView)] = [:]
    var facts: [Fact] = []
    for device in devices
    where device.address.family == member.family && isPlanned(device, in: roster) {
      let name = "device \(device.plan.id.rawValue)"
      guard let person = roster.owner(of: device.plan.id) else { continue }
      let (live, restored) = (device.link, restoredLink(device))
      if live.roster != roster { return "\(name) has another roster than the relay" }
      let verified = Dictionary(grouping: restored.restored, by: \.audience)
        .mapValues { Set($0.map(\.seq)) }
      for audience in roster.audiences(of: person) {
        let seqs = verified[audience] ?? []
        let view = AudienceView(live, audience, seqs)
        if view != AudienceView(restored, audience, seqs) {
          return "\(name) has another \(audience.name) after a restart"
        }
        if let other = views[audience], other.view != view {
          return
            "\(name) and \(other.name) differ in \(audience.name): \(view.difference(other.view))"
        }
        views[audience] = (name, view)
        if let missing = missingHonest(seqs, audience, device, member) {
          return "\(name) \(missing)"
        }
        facts.append(.verified(device.address, audience, seqs.sorted()))
      }
    }
    for fact in facts { record(fact) }
    for identity in member.identities { record(.dishonest(identity.address)) }
    recordLeaks(member)
    recordExcessKeys(member)
    return nil
  }

  /// An event of an honest device that the device with these verified events does not count.
  ///
  /// The keys of a removed device's contents may be lost before another device becomes a reader.
  private func missingHonest(
    _ seqs: Set<UInt64>, _ audience: Audience, _ reader: SimulatedDevice, _ member: DishonestMember
  ) -> String? {
    let last = member.log.rosters.last
    var roster = Roster()
    for event in member.log {
      defer { if case .rosterChanged(let new) = event.body { roster = new } }
      guard event.audience == audience, !seqs.contains(event.seq), !event.isSealedWebReport,
        let signature = event.signature,
        let entry = roster.device(signature.signer),
        event.device == signature.signer || event.device.rawValue == 0,
        entry.signingKey != member.own.vault.signingKey,
        devices.contains(where: {
          $0.address.family == member.family && $0.vault.signingKey == entry.signingKey
            && isPlanned($0, in: roster)
        }),
        last?.device(signature.signer) == entry
          || roster.owner(of: reader.plan.id).map(roster.audiences)?.contains(audience) ?? false
      else { continue }
      return "does not count event \(event.seq) of device \(signature.signer.rawValue)"
    }
    return nil
  }

  /// Records more keys of one device than the relay permits between two rosters. No run lasts a week.
  private func recordExcessKeys(_ member: DishonestMember) {
    var known: Set<ContentKeyID> = []
    var made: [DeviceID: [Audience: Int]] = [:]
    for event in member.log {
      if event.body.isRoster { made = [:] }
      guard case .keysShared(let wraps) = event.body else { continue }
      let new = wraps.filter { known.insert($0.key).inserted }.count
      made[event.device, default: [:]][event.audience, default: 0] += new
      if made[event.device]?[event.audience] ?? 0 > Limits.keysPerMaker {
        return record(.breach("event \(event.seq) shares too many keys"))
      }
    }
  }

  /// Records contents that honest devices sealed under a key of the member although they knew a
  /// roster in which the member does not read the audience.
  private func recordLeaks(_ member: DishonestMember) {
    let rosters = member.log.compactMap { event -> (seq: UInt64, roster: Roster)? in
      if case .rosterChanged(let roster) = event.body { (event.seq, roster) } else { nil }
    }
    for event in member.log {
      guard let content = event.body.content, let name = member.own.vault.keyName(of: content),
        member.secrets[name] != nil, let signature = event.signature,
        let roster = rosters.last(where: { $0.seq <= signature.basedOnSeq })?.roster,
        let signer = roster.device(signature.signer),
        devices.contains(where: {
          $0.vault.signingKey == signer.signingKey && $0 !== devices[member.index]
        })
      else { continue }
      let isReader = member.identities.contains { identity in
        roster.devices.contains { entry in
          (entry.agreementKey == identity.vault.agreementKey || entry.publicKey == identity.key)
            && roster.person(entry.person).map { roster.isMember($0, of: event.audience) } ?? false
        }
      }
      if !isReader, !member.learnedLater(name, than: event.seq) {
        record(.breach("event \(event.seq) is sealed under a key of the member"))
      }
    }
  }
}

/// The part of a device's state that follows from one audience.
private struct AudienceView: Equatable {
  struct Conversation: Equatable {
    var lines: Lines
    var questions: Questions
    var limitsOn: Bool
    var consents: Consents
    var known: [[Handle]]
  }
  var verified: Set<UInt64>
  var roster: Roster?
  var passcode: Passcode?
  var joins: [JoinRequest] = []
  var conversation: Conversation?
  var account: Account?
  var ages: AgeState?

  init(_ link: DeviceLink, _ audience: Audience, _ verified: Set<UInt64>) {
    self.verified = verified
    if audience == .family {
      roster = link.roster
      passcode = link.passcode
      joins = link.joins
    }
    if let child = audience.conversationChild {
      // A device with a receipt and one without have the same empty conversation.
      let state = link.conversations[child] ?? FamilyCore.Conversation()
      conversation = Conversation(
        lines: state.lines, questions: state.questions, limitsOn: state.limitsOn,
        consents: state.consents, known: Scenario.apps.map { state.known.all(in: $0).sorted() })
    }
    if let person = audience.accountPerson {
      account = link.accounts[person]
      ages = link.age(of: person)
    }
  }

  /// The names of the parts that differ.
  func difference(_ other: Self) -> String {
    var parts: [String] = []
    if verified != other.verified {
      parts.append("events \(verified.symmetricDifference(other.verified).sorted())")
    }
    if roster != other.roster { parts.append("roster") }
    if passcode != other.passcode { parts.append("passcode") }
    if joins != other.joins { parts.append("joins") }
    if conversation?.lines != other.conversation?.lines { parts.append("lines") }
    if conversation?.questions != other.conversation?.questions { parts.append("questions") }
    if conversation?.known != other.conversation?.known { parts.append("known handles") }
    if conversation?.limitsOn != other.conversation?.limitsOn { parts.append("limits") }
    if conversation?.consents != other.conversation?.consents { parts.append("consents") }
    if account != other.account { parts.append("account") }
    if ages != other.ages { parts.append("age settings") }
    return parts.joined(separator: ", ")
  }
}

extension Audience {
  fileprivate var name: String {
    if let child = conversationChild { return "conversation \(child.rawValue)" }
    if let person = accountPerson { return "account \(person.rawValue)" }
    return "the family"
  }
}
