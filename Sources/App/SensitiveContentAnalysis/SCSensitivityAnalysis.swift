public import DeviceConnection
import FamilyModel

/// The result of the analysis of a picture, a video file or a live stream.
public final class SCSensitivityAnalysis: Sendable {
  /// Whether the content is sensitive.
  ///
  /// An app covers sensitive content. All content without a result is covered too.
  public let isSensitive: Bool
  /// Whether the app interrupts a live stream: it shows and sends no further frame.
  ///
  /// Also true while the frames of the stream have no timely verdict.
  public let shouldInterruptVideo: Bool
  /// Whether the app tells the person that a live stream is sensitive.
  public let shouldIndicateSensitivity: Bool
  /// Whether the app mutes the sound of a live stream.
  public let shouldMuteAudio: Bool

  /// The result for a picture or a file.
  init(isSensitive: Bool) {
    self.isSensitive = isSensitive
    shouldInterruptVideo = false
    shouldIndicateSensitivity = false
    shouldMuteAudio = false
  }

  /// The result for a live stream.
  init(isSensitive: Bool, isInterrupted: Bool) {
    self.isSensitive = isSensitive
    shouldInterruptVideo = isInterrupted
    shouldIndicateSensitivity = isSensitive
    shouldMuteAudio = isInterrupted
  }
}

/// The way in which an app treats sensitive pictures. Guardians choose it.
public enum SCSensitivityAnalysisPolicy: Int, Sendable, CaseIterable {
  /// Pictures are not analyzed, and the app shows them.
  case disabled = 0
  /// The app covers a sensitive picture and offers to show it.
  case simpleInterventions = 1
  /// The app covers a sensitive picture, and explains the warning before it shows the picture.
  case descriptiveInterventions = 2
}

extension DeviceProblem {
  /// Whether no check applies to a picture, so that the app shows it: the process has no device, or the policy
  /// is ``SCSensitivityAnalysisPolicy/disabled``.
  ///
  /// An addition to Apple's API. With every other problem, the app covers the picture.
  public var isWithoutCheck: Bool {
    [Problem.noDevice, .picturesNotChecked].contains { number == Int($0.code) }
  }
}
