public import FamilyCore
public import FamilyModel

/// The views of the relay and of devices, for the simulator and for chaos.
extension FamilyView {
  /// The state that the relay's log gives.
  ///
  /// - Parameters:
  ///   - log: The family's events in order.
  ///   - channel: The number of an audience's channel at a generation.
  public init(
    ofLog log: some Sequence<Event>, channel: (Audience, _ generation: UInt32) -> UInt64
  ) {
    var state = FamilyState()
    var open: [PersonID: Set<QuestionID>] = [:]
    var limits: [PersonID: Statements<Bool>] = [:]
    for event in log {
      state.apply(event)
      guard let child = event.audience.conversationChild else { continue }
      switch event.body {
      case .asked(let header, _): open[child, default: []].insert(header.id)
      case .cancelled(let id): open[child]?.remove(id)
      case .decided(let decision): open[child]?.remove(decision.question)
      case .limitsChanged(_, let on): limits[child, default: Statements()].add(on, event.order)
      default: break
      }
    }
    let audiences = Set(state.roster.persons.flatMap { state.roster.audiences(of: $0) })
    self.init(
      roster: state.roster, passcodeKey: state.passcode?.publicKey ?? [],
      generations: audiences.map { channel($0, state.generation($0)) }.sorted(),
      children: state.roster.children.map {
        Child(
          $0.id, limitsOn: limits[$0.id]?.current?.value, open: (open[$0.id] ?? []).sorted(),
          known: nil)
      })
  }

  /// The state that a device holds of what it may read. Handles that are known until a time do not
  /// count.
  ///
  /// - Parameter generations: See ``generations``; empty while the device is not connected.
  public init(of link: DeviceLink, generations: [UInt64] = []) {
    let owner = link.roster.owner(of: link.address.device)
    let children = link.roster.children.filter {
      owner?.role.isGuardian ?? false || owner?.id == $0.id
    }
    let persons = owner.map(link.roster.audiences)?.compactMap(\.accountPerson) ?? []
    self.init(
      roster: link.roster, passcodeKey: link.passcode?.publicKey ?? [],
      generations: generations.sorted(),
      children: children.map { child in
        let conversation = link.conversations[child.id] ?? Conversation()
        let open = conversation.questions.unanswered.map(\.header.id).sorted()
        let settings = link.settings(of: child.id)
        let reasons = conversation.known.reasons.filter { $0.reason.until == nil }
        return Child(
          child.id, limitsOn: conversation.limitsOn, open: open,
          known: reasons.map { Known($0.handle, in: $0.reason.app) },
          settings: [
            .webRules(settings.webRules), .communicationSafety(settings.communicationSafety),
          ], withdrawn: conversation.consents.withdrawn)
      },
      persons: persons.sorted().map {
        Person($0, account: link.accounts[$0], age: link.age(of: $0).settings)
      })
  }
}
