public import FamilyModel
public import Foundation

/// A program that classifies pictures, such as `onnx-classifier` with an operator's model.
///
/// A picture has the verdict `unknown` while the program does not run.
public typealias ClassifierProgram = PictureProcess<ContentVerdict>

extension PictureProcess<ContentVerdict> {
  /// Creates a classifier that is not yet running.
  ///
  /// - Parameter program: The path of the program.
  public convenience init(program: URL) {
    self.init(
      program: program,
      limits: ProcessLimits(
        start: ContentLimits.classifierStart, picture: ContentLimits.decoderTimeout,
        interval: ContentLimits.classifierInterval, wait: ContentLimits.timeout))
  }
}

extension PictureProcess: Classifier where Reply == ContentVerdict {
  public func classify(_ picture: Avatar) async -> ContentVerdict {
    await reply(to: picture) ?? .unknown
  }
}

/// Several classifiers as one. A picture is sensitive if one of them says so, and clean if all do.
public struct Classifiers: Classifier {
  private let all: [any Classifier]

  /// Creates a classifier of others, which see each picture in this order.
  public init(_ all: [any Classifier]) { self.all = all }

  public func classify(_ picture: Avatar) async -> ContentVerdict {
    var verdict = all.isEmpty ? ContentVerdict.unknown : .clean
    for classifier in all {
      switch await classifier.classify(picture) {
      case .sensitive: return .sensitive
      case .unknown: verdict = .unknown
      case .clean: break
      }
    }
    return verdict
  }
}
