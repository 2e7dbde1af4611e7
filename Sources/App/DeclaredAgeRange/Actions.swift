public import DeviceConnection

/// The request of ``AgeRangeService`` as a value, in the place of SwiftUI's environment value.
public struct DeclaredAgeRangeAction: Sendable {
  private let window: NamedWindow

  /// Creates the action of an app with one window.
  public init() { window = NamedWindow("") }

  /// Creates the action of a window.
  public init(in anchor: some PresentationAnchor) { window = NamedWindow(anchor.windowName) }

  /// Requests the age range; see ``AgeRangeService/requestAgeRange(ageGates:_:_:in:)``.
  ///
  /// - Throws: ``AgeRangeService/Error``
  public func callAsFunction(
    ageGates threshold1: Int, _ threshold2: Int? = nil, _ threshold3: Int? = nil
  ) async throws -> AgeRangeService.Response {
    try await AgeRangeService.shared.requestAgeRange(
      ageGates: threshold1, threshold2, threshold3, in: window)
  }
}

/// The alert about a significant update as a value, in the place of SwiftUI's environment value.
public struct SignificantUpdateAction: Sendable {
  private let window: NamedWindow

  /// Creates the action of an app with one window.
  public init() { window = NamedWindow("") }

  /// Creates the action of a window.
  public init(in anchor: some PresentationAnchor) { window = NamedWindow(anchor.windowName) }

  /// Shows the alert; see
  /// ``AgeRangeService/showSignificantUpdateAcknowledgment(in:updateDescription:)``.
  ///
  /// - Throws: ``AgeRangeService/Error``
  public func callAsFunction(updateDescription: String) async throws {
    try await AgeRangeService.shared.showSignificantUpdateAcknowledgment(
      in: window, updateDescription: updateDescription)
  }
}
