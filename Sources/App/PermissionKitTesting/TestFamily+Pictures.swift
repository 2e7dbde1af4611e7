import FamilyModel
public import Foundation

/// The verdict of a scripted check of pictures.
public enum PictureVerdict: Sendable, CaseIterable {
  /// The picture is not sensitive.
  case clean
  /// The picture is sensitive.
  case sensitive
  /// The check has no verdict, as after the death of a worker. The app's call fails with problem 462.
  case undecided
  /// The device has no worker. The app's call fails with problem 463.
  case noWorker

  var analysis: PictureAnalysis {
    switch self {
    case .clean: .checked(isSensitive: false)
    case .sensitive: .checked(isSensitive: true)
    case .undecided: .failed(.noVerdict)
    case .noWorker: .failed(.noContentWorker)
    }
  }
}

extension TestFamily {
  /// Has the child's device check pictures with this closure, without a worker process. Default: every
  /// picture is clean.
  ///
  /// - Parameter verdict: Returns the verdict about the encoded picture. The test kit calls the closure
  ///   from any task, and only while the child's communication safety is on.
  public func checkPictures(_ verdict: @escaping @Sendable (Data) -> PictureVerdict) {
    perform { $0.pictureCheck = verdict }
  }
}
