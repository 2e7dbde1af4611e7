public import FamilyModel
public import Foundation
public import PerceptualHash

/// A message with which a process replies to a picture.
public protocol PictureReply: Sendable {
  /// Bytes of the longest reply.
  static var maximumBytes: Int { get }
  /// The reply to a picture of a format that the process does not read.
  static var undecodable: Self { get }
  /// Reads a message; `nil` for other bytes.
  init?(_ bytes: [UInt8])
}

/// The times that a process for pictures has.
public struct ProcessLimits: Sendable {
  /// The time from the start of the process until it has confined itself.
  public var start: Duration
  /// The time for one picture.
  public var picture: Duration
  /// The time between two starts. Pictures wait meanwhile.
  public var interval: Duration

  /// Creates limits.
  public init(start: Duration, picture: Duration, interval: Duration) {
    self.start = start
    self.picture = picture
    self.interval = interval
  }
}

/// A process for pictures that cannot be started, that cannot confine itself, or that did not answer.
public struct ProcessFailure: Error, CustomStringConvertible {
  /// The program and the reason in one sentence.
  public let description: String
}

extension DecoderReply: PictureReply {}

/// Computes the perceptual hashes of pictures: the process of `content-decoder`.
public typealias PictureDecoder = PictureProcess<DecoderReply>

extension PictureProcess<DecoderReply> {
  /// Creates a decoder that is not yet running.
  ///
  /// - Parameters:
  ///   - program: The path of `content-decoder`.
  ///   - timeout: The time for the start of the process, and for one picture.
  public convenience init(program: URL, timeout: Duration = ContentLimits.decoderTimeout) {
    self.init(
      program: program,
      limits: ProcessLimits(
        start: timeout, picture: timeout, interval: ContentLimits.decoderInterval))
  }
}

extension ContentVerdict: PictureReply {
  public static var maximumBytes: Int { 1 }
  public static var undecodable: ContentVerdict { .unknown }

  public init?(_ bytes: [UInt8]) {
    guard bytes.count == 1 else { return nil }
    self.init(rawValue: bytes[0])
  }
}

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
        interval: ContentLimits.classifierInterval))
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
