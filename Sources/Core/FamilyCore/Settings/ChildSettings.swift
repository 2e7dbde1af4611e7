public import FamilyModel

/// A child's settings, as the statements of guardians, and of the child's own device with the passcode,
/// add up to.
///
/// Every setting is a value of its own: a statement about one replaces no other. Ages, ratings and
/// communication limits are older, and have events of their own: ``AgeState``, ``Conversation``.
public struct ChildSettings: Hashable, Sendable {
  var web = Statements<WebRules>()
  var safety = Statements<CommunicationSafety>()
  /// The position of the newest deletion of reports about the web; zero: none.
  var webUseDeletion: UInt64 = 0

  /// The rules for the web; by default every site is allowed and nothing is reported.
  public var webRules: WebRules { web.current?.value ?? WebRules() }
  /// The setting for sensitive pictures; off by default.
  public var communicationSafety: CommunicationSafety { safety.current?.value ?? .off }

  /// Creates the default settings.
  public init() {}

  /// Adds a statement about one setting. A late statement has its place by its order.
  mutating func set(_ content: Content, _ order: StatementOrder) {
    switch content {
    case .webRules(let rules): web.add(rules, order)
    case .communicationSafety(let setting): safety.add(setting, order)
    case .webUseDeleted: webUseDeletion = max(webUseDeletion, order.seq)
    default: break
    }
  }

  /// Whether the setting has the content's value.
  func states(_ content: Content) -> Bool {
    switch content {
    case .webRules(let rules): webRules == rules
    case .communicationSafety(let setting): communicationSafety == setting
    case .webUseDeleted: true
    default: false
    }
  }
}

extension DeviceLink {
  /// The person's settings. Commands in the outbox count already.
  public func settings(of person: PersonID) -> ChildSettings {
    var settings = family.settings[person] ?? ChildSettings()
    for (id, command) in pendingCommandsByID {
      guard case .changeSettings(person, let content, _) = command else { continue }
      settings.set(content, StatementOrder(ofPending: CommandName(address.device, id)))
    }
    return settings
  }
}

extension ChildSettings: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(web)
    packer.add(safety)
    packer.add(webUseDeletion)
  }
  init(_ packed: inout Unpacker) {
    self.init()
    web = packed.value()
    safety = packed.value()
    webUseDeletion = packed.number()
  }
}

extension WebRules: Packable {
  func pack(_ packer: inout Packer) { packer.add(Content.webRules(self)) }
  init(_ packed: inout Unpacker) {
    if case .webRules(let rules) = packed.value() as Content {
      self = rules
    } else {
      packed.fail()
      self.init()
    }
  }
}

extension CommunicationSafety: Packable {
  func pack(_ packer: inout Packer) { packer.add(UInt64(rawValue)) }
  init(_ packed: inout Unpacker) { self = packed.raw(Self.init) ?? .off }
}
