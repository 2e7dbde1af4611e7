import FamilyModel

extension AppReply {
  /// Whether the message is valid only after the reply to the attachment.
  var followsAttachment: Bool {
    switch self {
    case .roster, .evidence, .reset, .entry, .caughtUp, .named, .sites, .sitesChanged,
      .managed, .watched, .safety:
      true
    case .attached, .asked, .age, .failed, .pong, .analyzed, .webUsed: false
    }
  }

  /// Whether the app must know the rosters before it applies the message.
  var needsRosters: Bool {
    switch self {
    case .evidence, .reset, .entry, .caughtUp: true
    case .attached, .roster, .named, .sites, .sitesChanged, .managed, .watched, .safety, .asked,
      .age, .failed, .pong, .analyzed, .webUsed:
      false
    }
  }
}
