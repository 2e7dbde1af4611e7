import AppClient
import FamilyModel
public import Foundation

/// An object that has pictures analyzed by the worker of the child's device.
///
/// ```swift
/// let analyzer = SCSensitivityAnalyzer()
/// do {
///   let analysis = try await analyzer.analyzeImage(picture)
///   if analysis.isSensitive { cover(picture) } else { show(picture) }
/// } catch let problem as DeviceProblem where problem.isWithoutCheck {
///   show(picture)  // no device, or the policy is `disabled`
/// } catch {
///   cover(picture)
/// }
/// ```
///
/// The picture stays on the device, which neither stores nor logs it. Objects may be used from any task at
/// the same time.
public final class SCSensitivityAnalyzer: Sendable {
  /// Creates an analyzer, and requests the policy from the device.
  public init() {
    guard let session = try? AppSession.current() else { return }
    Task { await session.requestSafety() }
  }

  /// The policy that the guardians have chosen, from a cache that survives a restart of the app.
  ///
  /// The value before the device's first answer is `descriptiveInterventions`. The value is `disabled` for
  /// an adult, without a family, and for a process without a device. Right after the app's start, the value
  /// may be older than the guardians' last choice. ``analyzeImage(_:)`` has the device decide.
  public var analysisPolicy: SCSensitivityAnalysisPolicy {
    guard let session = try? AppSession.current() else { return .disabled }
    if session.safety == nil { Task { await session.requestSafety() } }
    return SCSensitivityAnalysisPolicy(session.safety)
  }

  /// Analyzes a picture in memory.
  ///
  /// - Parameter image: A still picture, encoded as PNG, JPEG, GIF or WebP. The limits are 65,536 bytes and
  ///   1,024 by 1,024 pixels: an app scales a larger picture down first.
  /// - Returns: The worker's verdict.
  /// - Throws: `DeviceProblem`: the number is 460 while the policy is `disabled`, 305 or 309 for a picture
  ///   above the limits, and 461 for too many pictures. The numbers 462 and 463 stand for no verdict.
  ///   `CancellationError` if the task is cancelled.
  public func analyzeImage(_ image: Data) async throws -> SCSensitivityAnalysis {
    let picture = try Self.picture(image)
    do {
      let isSensitive = try await AppSession.current().analyze(picture).isSensitive()
      return SCSensitivityAnalysis(isSensitive: isSensitive)
    } catch let error as CancellationError { throw error } catch {
      throw DeviceProblem(reason: error)
    }
  }

  /// Analyzes the picture in a file of this device.
  ///
  /// - Parameter fileURL: The file's address, with the scheme `file`.
  /// - Returns: The worker's verdict.
  /// - Throws: The error of the file system, or an error of ``analyzeImage(_:)``.
  public func analyzeImage(at fileURL: URL) async throws -> SCSensitivityAnalysis {
    guard fileURL.isFileURL else { throw CocoaError(.fileReadUnsupportedScheme) }
    let file = try FileHandle(forReadingFrom: fileURL)
    defer { try? file.close() }
    // One byte above the limit shows that the file is too large.
    return try await analyzeImage(try file.read(upToCount: Limits.avatarBytes + 1) ?? Data())
  }

  /// Analyzes a picture in memory, and calls the handler on an unspecified task.
  ///
  /// - Parameters:
  ///   - image: The encoded picture, as for ``analyzeImage(_:)``.
  ///   - completionHandler: Receives the verdict or the error.
  public func analyzeImage(
    _ image: Data,
    completionHandler: @escaping @Sendable (SCSensitivityAnalysis?, (any Error)?) -> Void
  ) {
    Task {
      do { completionHandler(try await analyzeImage(image), nil) } catch {
        completionHandler(nil, error)
      }
    }
  }

  /// Analyzes the picture in a file, and calls the handler on an unspecified task.
  ///
  /// - Parameters:
  ///   - fileURL: The file's address, as for ``analyzeImage(at:)``.
  ///   - completionHandler: Receives the verdict or the error.
  public func analyzeImage(
    at fileURL: URL,
    completionHandler: @escaping @Sendable (SCSensitivityAnalysis?, (any Error)?) -> Void
  ) {
    Task {
      do { completionHandler(try await analyzeImage(at: fileURL), nil) } catch {
        completionHandler(nil, error)
      }
    }
  }

  /// The picture with the media type of its bytes.
  static func picture(_ image: Data) throws -> Avatar {
    do throws(Problem) {
      guard image.count <= Limits.avatarBytes else { throw .imageTooLarge }
      let bytes = [UInt8](image)
      return Avatar(mediaType: try ImageHeader(bytes: bytes).format.mediaType, bytes: bytes)
    } catch { throw DeviceProblem(error) }
  }
}

extension PictureAnalysis {
  /// The verdict, or the reason for none.
  func isSensitive() throws(Problem) -> Bool {
    switch self {
    case .checked(let isSensitive): return isSensitive
    case .failed(let problem): throw problem
    }
  }
}

extension SCSensitivityAnalysisPolicy {
  /// The policy of a setting; `nil` before the device's first answer.
  init(_ setting: CommunicationSafety?) {
    self =
      switch setting {
      case .off: .disabled
      case .simple: .simpleInterventions
      case .descriptive, nil: .descriptiveInterventions
      }
  }
}
