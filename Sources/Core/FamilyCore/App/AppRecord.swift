public import FamilyModel

/// A piece of an app's durable state, kept by the library inside the app.
public enum AppRecord: Hashable, Sendable {
  /// A handle that is known.
  case known(Handle)
  /// The last entry applied to the known handles, and the last one up to which the app's own code handled all.
  case position(applied: UInt64, consumed: UInt64)
  /// A response that the app's code handled before an earlier one.
  case consumedAhead(UInt64)
  /// A guardian withdrew the consent that the child goes on using the app (R9).
  case consentWithdrawn
  /// Whose app it is, and the organizer's key, as the device said the first time.
  case pinned(AppSecurity)
  /// What a guardian has signed about a handle, or about the consent.
  case statement(KnownStatement)
  /// A question that was asked here, whose default permits something: no guardian signs that.
  case asked(Question)
}

/// A change of an app's durable state. All changes of one step are one transaction.
public enum AppRecordChange: Hashable, Sendable {
  /// Write the record.
  case put(AppRecord)
  /// Remove the record of the same key.
  case remove(AppRecord)
  /// Forget all known handles.
  case forgetAll
}
