public import FamilyModel

/// A piece of an app's durable state, kept by the library inside the app.
public enum AppRecord: Hashable, Sendable {
  /// A handle that is known.
  case known(Handle)
  /// The last entry applied to the known handles, and the last one that the app's own code handled.
  case position(applied: UInt64, consumed: UInt64)
}

/// A change of an app's durable state. All changes of one step are one transaction.
public enum AppRecordChange: Hashable, Sendable {
  /// Write the record.
  case put(AppRecord)
  /// Forget a known handle.
  case forget(Handle)
  /// Forget all known handles.
  case forgetAll
}
