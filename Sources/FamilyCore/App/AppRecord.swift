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
