public import FamilyModel

/// What a check has found in a picture.
public enum ContentVerdict: UInt8, Sendable, CaseIterable {
  /// Nothing sensitive was found.
  case clean = 0
  /// It must not be shown before the person was warned.
  case sensitive = 1
  /// There is no verdict: the check cannot tell, is too slow, or is not there.
  case unknown = 2
}

/// Checks pictures before they are shown (S2).
///
/// Who shows a picture must treat ``ContentVerdict/unknown`` like ``ContentVerdict/sensitive``:
/// first blurred, with a warning. Only ``ContentVerdict/clean`` may be shown at once.
public protocol ContentChecker: Sendable {
  /// The verdict on a picture. It always comes, within a limited time.
  func verdict(on picture: Avatar) async -> ContentVerdict
}

/// Looks at pictures within a worker. Put your own in the place of ``HashList``.
///
/// It is called for valid pictures only, many at a time, and never on the thread of the sockets. It
/// has to return: the worker refuses pictures while ``ContentLimits/workerPictures`` are in work.
public protocol Classifier: Sendable {
  /// What the picture is; `unknown` if that cannot be told.
  func classify(_ picture: Avatar) async -> ContentVerdict
}
