public import DeviceConnection
import FamilyModel

/// The result of the analysis of a picture.
public final class SCSensitivityAnalysis: Sendable {
  /// Whether the picture is sensitive.
  ///
  /// An app covers a sensitive picture. Every picture without a result is covered too.
  public let isSensitive: Bool

  init(isSensitive: Bool) { self.isSensitive = isSensitive }
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
