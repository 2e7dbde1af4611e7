/// The private part of an event. The relay carries it as sealed bytes and cannot open it.
///
/// The relay has only `sealed` and `erased`. Every other case is indirect, because it is ten times as
/// large.
public enum Content: Hashable, Sendable {
  /// Encoded bytes, sealed or not yet decoded.
  case sealed([UInt8])
  /// The digest of sealed bytes that were erased. The signature of the event covers this digest.
  case erased([UInt8])
  /// A complete question.
  indirect case question(Question)
  /// A text message.
  indirect case text(String)
  /// A handle that a guardian adds to or removes from the child's known contacts.
  indirect case contact(Handle, known: Bool)
  /// The name that a guardian gives a contact; an empty one removes the name. Apps never receive
  /// the event, because it makes no handle known.
  indirect case contactName(Handle, String)
  /// A person's account.
  indirect case account(Account)
  /// A guardian's withdrawal.
  indirect case withdrawal(Withdrawal)
  /// An age answer that an app received; `nil` clears the app's age memory.
  indirect case ageMemory(AppID, AgeAnswer?)
  /// A person's age settings.
  indirect case ageSettings(AgeSettings)
  /// The apps on one device of a child: the complete list, which replaces the device's earlier one.
  indirect case apps([ListedApp])
  /// A child's rules for the web.
  indirect case webRules(WebRules)
  /// A child's setting for sensitive pictures.
  case communicationSafety(CommunicationSafety)
  /// A device's report of the child's use of the web.
  indirect case webUse(WebUse)
  /// The deletion of the reports about a site or, if `nil`, of all reports.
  indirect case webUseDeleted(Site?)
}

/// A guardian's later removal of an approval, or the return of a consent.
public enum Withdrawal: Hashable, Sendable {
  /// The handle becomes unknown: a custom name in this app or, if `nil`, in all apps; numbers and
  /// addresses in all apps.
  case handle(Handle, in: AppID?)
  /// The consent to use this app ends.
  case consent(AppID)
  /// The guardian gives the consent to use this app back.
  case consentGiven(AppID)
}
