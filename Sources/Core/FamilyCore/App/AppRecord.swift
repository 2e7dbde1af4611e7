public import FamilyModel

/// A piece of an app's durable state, kept by the library inside the app.
public enum AppRecord: Hashable, Sendable {
  /// A known handle.
  case known(Handle)
  /// The last applied entry, and the entry up to which all are consumed.
  case position(applied: UInt64, consumed: UInt64)
  /// A response that the app's code consumed before an earlier one.
  case consumedAhead(UInt64)
  /// The mark that a guardian withdrew the consent to the app.
  case consentWithdrawn
  /// The family, the child and the organizer's key of the first launch.
  case pinned(AppSecurity)
  /// A verified statement about a handle, or about the consent.
  case statement(KnownStatement)
  /// A question whose default choice approves. No guardian signs a default, so the app remembers
  /// the question.
  case asked(Question)
  /// The latest time that the device's entries prove. Approvals with an end are judged by it.
  case latestTime(Instant)
  /// A handle that the app has named, as the device confirmed.
  case named(Handle)
  /// The access to a site that the app has named.
  case site(SiteAccess)
  /// Whether guardians' rules restrict the web.
  case webRestricted(Bool)
  /// The setting for sensitive pictures.
  case safety(CommunicationSafety)
  /// The digest of a roster that the app has verified.
  case roster(ChainHash)
  /// The mark that a guardian declined the app's authorization, or that the authorization ended.
  case authorizationDenied
  /// The managed settings of the app's store with this name.
  case managed(String, ManagedSettings)
  /// An activity, and the schedule of its intervals.
  case activity(PlannedActivity)
  /// A deletion of history that the device has not stored.
  case webDeletion(UInt64, WebHistoryPart)
}

/// A change of an app's durable state. The changes of one `persist` effect are one transaction; a
/// step may have several. An app entry and its position share one.
public enum AppRecordChange: Hashable, Sendable {
  /// Write the record.
  case put(AppRecord)
  /// Remove the record of the same key.
  case remove(AppRecord)
  /// Forget all known handles.
  case forgetAll
}
