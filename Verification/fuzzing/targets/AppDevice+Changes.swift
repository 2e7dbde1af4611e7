import FamilyCore
import FamilyHarness
import FamilyModel

/// Changes of genuine messages to an app.
extension Bytes {
  mutating func change(_ reply: AppReply, _ hasGuardianKey: Bool) -> AppReply {
    guard !isRare(3) else { return reply }
    switch reply {
    case .attached: return .attached(acknowledged: edge())
    case .reset(let position, let known):
      return .reset(
        position: isRare(2) ? edge() : position,
        known: isRare(2) ? array(4) { $0.handle() } : known)
    case .roster(let proof): return .roster(change(proof))
    case .evidence(let list): return .evidence(change(list, hasGuardianKey))
    case .entry(let entry): return .entry(change(entry, hasGuardianKey))
    case .asked: return .asked(ID128(high: 77, low: UInt64(byte())), .sent)
    case .age: return .age(edge(), .failed(.tooLarge))
    case .named: return .named(array(4) { $0.handle() })
    case .sites: return .sites(array(4) { $0.siteAccess() }, isRestricted: isRare(2))
    case .managed: return .managed("store\(pick(2))", isRare(2) ? .notAuthorized : nil)
    case .watched:
      return .watched(
        "activity\(pick(2))", UInt64(pick(2)),
        isRare(2) ? any([.notAuthorized, .activityOver]) : nil,
        at: Instant(milliseconds: Int64(byte())))
    case .safety: return .safety(any(CommunicationSafety.allCases))
    case .webUsed: return .webUsed(edge())
    case .analyzed: return .analyzed(edge(), .checked(isSensitive: isRare(2)))
    case .caughtUp, .sitesChanged, .failed, .pong: return reply
    }
  }

  /// An act of an app that manages the child or shows pages.
  mutating func manage() -> AppMachine.Input {
    let start = Household.start + .minutes(pick(8))
    switch pick(8) {
    case 0: return .sites(array(4) { $0.site() })
    case 1:
      var settings = ManagedSettings()
      settings.sites = any([.none, .specific([site()]), .all(except: [site()])])
      settings.deniesPeople = isRare(2)
      return .manage("store\(pick(2))", settings)
    case 2:
      let limit = Activity.Threshold("limit", seconds: 1 + UInt32(byte()), sites: [site()])
      return .watch(
        Activity(
          "activity\(pick(2))", number: UInt64(pick(2)), from: start,
          to: start + .minutes(pick(120)), warning: UInt32(byte()), thresholds: [limit]),
        schedule: [byte()])
    case 3: return .unwatch("activity\(pick(2))")
    case 4: return .safety
    case 5: return .analyze(UInt64(byte()), Avatar(mediaType: "image/png", bytes: chunk()))
    case 6:
      let seconds = UInt32(byte())
      return .useWeb(ShownPages(seconds: seconds, sites: [site(): seconds]), at: start)
    default: return .deleteWebUse(isRare(2) ? .all : .site(site()), at: start)
    }
  }

  private mutating func siteAccess() -> SiteAccess {
    SiteAccess(
      site(), any(WebAccess.allCases),
      until: isRare(2) ? Instant(milliseconds: Int64(byte())) : nil)
  }

  private mutating func change(_ proof: RosterProof) -> RosterProof {
    var proof = proof
    switch pick(7) {
    case 0: proof.seq = edge()
    case 1: proof.signature.signer = device()
    case 2: proof.signature.known.family.seq = edge()
    case 3: proof.roster = roster(like: proof.roster)
    case 4: proof.hiddenDigest = chunk()
    case 5: proof.command = commandID(Household.start)
    default: proof.signature.known.heads = []
    }
    return proof
  }

  private mutating func change(_ entry: AppEntry, _ hasGuardianKey: Bool) -> AppEntry {
    var entry = entry
    switch pick(7) {
    case 0: entry.position = isRare(2) ? edge() : UInt64(byte())
    case 6:
      entry.body = .activity(
        "activity\(pick(2))", UInt64(pick(2)), any([.started, .ended, .reached("limit")]),
        at: Instant(milliseconds: Int64(byte())))
    case 1: entry.evidence = change(entry.evidence, hasGuardianKey)
    case 2: entry.body = .known(array(8) { $0.handle() })
    case 3: entry.body = .forgotten(array(8) { $0.handle() })
    case 4:
      var question = question(Household.start)
      if case .response(let genuine, _) = entry.body, isRare(2) { question = genuine }
      entry.body = .response(question, any(question.choices + [.approve]))
    default: entry.body = isRare(2) ? .consentWithdrawn : .consentGiven
    }
    return entry
  }

  private mutating func change(_ list: [Evidence], _ hasGuardianKey: Bool) -> [Evidence] {
    var list = list
    for _ in 0..<1 + pick(3) where !list.isEmpty {
      let index = pick(list.count)
      switch pick(4) {
      case 0: list.remove(at: index)
      case 1: list.append(list[index])
      case 2: list.swapAt(index, pick(list.count))
      default: change(&list[index], hasGuardianKey)
      }
    }
    return list
  }

  private mutating func change(_ evidence: inout Evidence, _ hasGuardianKey: Bool) {
    let now = Household.start
    switch pick(12) {
    case 0: evidence.key = chunk()
    case 1: evidence.question = nil
    case 2: evidence.question?.choices = [ChoiceHeader(id: choiceID(), answer: .approval)]
    case 3: evidence.question?.child = person()
    case 4: evidence.tags = nil
    case 5:
      guard let tags = evidence.tags, !tags.items.isEmpty else { return }
      let index = pick(tags.items.count)
      evidence.tags?.items[index].item = [byte()] + chunk()
    case 6: evidence.tags?.items.removeAll()
    case 7: evidence.event.seq = edge()
    case 8: evidence.event.audience = audience()
    case 9: evidence.event.at = instant(now)
    case 10: evidence.event.command = commandID(now)
    default:
      let content = content(for: evidence.key, evidence.event)
      evidence.event.body =
        isRare(2)
        ? .contactChanged(child: Household.child, content)
        : .withdrawn(child: Household.child, content)
    }
    if hasGuardianKey { sign(&evidence) }
  }

  /// A content under the key of another one, which the device has.
  private mutating func content(for key: [UInt8], _ event: Event) -> Content {
    var binding = BoundBytes("permission-relay content 1")
    binding.add(Household.family.rawValue)
    binding.add(event.audience.rawValue)
    binding.add(event.command)
    let open: Content =
      isRare(2) ? .contact(handle(), known: true) : .withdrawal(withdrawal())
    return IdealVault(number: 0).seal(
      open, ContentKeyID(high: 0, low: 0), key, binding: binding.bytes)
  }

  /// Signs the changed event with the key of a guardian.
  private func sign(_ evidence: inout Evidence) {
    let (event, vault) = (evidence.event, IdealVault(number: 10))
    guard let known = event.signature?.known else { return }
    let bytes = SignedBytes.of(
      event.body, event.command, in: Household.family, event.audience, by: DeviceID(10),
      knowing: known, question: evidence.question, digest: IdealVault.relayDigest,
      bytes: vault.bytes)
    evidence.event.device = DeviceID(10)
    evidence.event.signature = Signature(
      signer: DeviceID(10), knowing: known, bytes: vault.sign(bytes))
  }
}
