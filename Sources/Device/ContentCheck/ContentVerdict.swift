public import FamilyModel

/// The result of a content check.
public enum ContentVerdict: UInt8, Sendable, CaseIterable {
  /// The check found nothing sensitive.
  case clean = 0
  /// The picture is sensitive. Warn the person before the picture is shown.
  case sensitive = 1
  /// No verdict: the classifier is undecided, the worker is too slow, or no worker runs.
  case unknown = 2
}

/// A check of pictures before a device shows them.
///
/// Only a ``ContentVerdict/clean`` picture may be shown at once. Blur a picture with the verdict
/// ``ContentVerdict/unknown`` or ``ContentVerdict/sensitive``, and warn the person.
public protocol ContentChecker: Sendable {
  /// The verdict on a picture. Returns within a limited time and never fails.
  func verdict(on picture: Avatar) async -> ContentVerdict
}

/// A classifier of pictures inside a worker. ``HashList`` is the reference.
///
/// The worker passes valid pictures only, many at a time, and never on the socket thread.
/// Precondition: every call returns. The worker rejects requests while
/// ``ContentLimits/workerPictures`` calls are running.
public protocol Classifier: Sendable {
  /// The verdict on a picture; `unknown` if the classifier is undecided.
  func classify(_ picture: Avatar) async -> ContentVerdict
}
