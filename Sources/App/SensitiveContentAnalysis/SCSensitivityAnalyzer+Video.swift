import AppClient
import DeviceConnection
import FamilyModel
public import Foundation
import PerceptualHash

extension SCSensitivityAnalyzer {
  /// Prepares the analysis of a video file of this device.
  ///
  /// ```swift
  /// let handler = analyzer.videoAnalysis(forFileAt: file)
  /// bar.observe(handler.progress)
  /// let analysis = try await handler.hasSensitiveContent()
  /// ```
  ///
  /// - Parameter fileURL: The file's address, with the scheme `file`.
  /// - Returns: The handler, which starts the analysis.
  public func videoAnalysis(forFileAt fileURL: URL) -> VideoAnalysisHandler {
    VideoAnalysisHandler(file: fileURL)
  }

  /// The analysis of a video file.
  ///
  /// The file has one stream of pictures: H.264, HEVC, MPEG-4, VP8 or VP9 in MP4, QuickTime, Matroska or WebM, of
  /// at most 4,096 by 2,304 pixels. The worker receives one frame of each 250 ms, and each frame that is shown
  /// longer. A decoder reads the file in a process that may do nothing else.
  public struct VideoAnalysisHandler: Sendable {
    private let file: URL
    /// The checked part of the video, in milliseconds. The cancellation of the progress ends the analysis.
    public let progress = Progress(totalUnitCount: 1)

    init(file: URL) { self.file = file }

    /// Analyzes the video up to the end, or up to the first sensitive frame.
    ///
    /// Without a result, an app covers the video.
    ///
    /// - Returns: Whether a frame is sensitive.
    /// - Throws: An error of the file system, or `CancellationError`. `DeviceProblem` 464 for a file that cannot
    ///   be read, 465 without a decoder, and those of a picture.
    public func hasSensitiveContent() async throws -> SCSensitivityAnalysis {
      guard file.isFileURL else { throw CocoaError(.fileReadUnsupportedScheme) }
      let session: AppSession
      do { session = try AppSession.current() } catch { throw DeviceProblem(reason: error) }
      // Without O_NONBLOCK, a pipe would block the thread.
      let source = open(file.path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
      guard source >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
      defer { close(source) }
      let video = VideoFile(source, decoder: session.decoder)
      progress.cancellationHandler = { video.cancel() }
      return try await withTaskCancellationHandler {
        let isSensitive = try await video.contains { frame in
          progress.totalUnitCount = Int64(max(frame.duration, frame.time, 1))
          progress.completedUnitCount = Int64(frame.time)
          let copy = SmallFrame(width: frame.size.width, height: frame.size.height, rgb: frame.rgb)
          return try await session.analyze(copy.picture).isSensitive()
        }
        progress.completedUnitCount = progress.totalUnitCount
        return SCSensitivityAnalysis(isSensitive: isSensitive)
      } onCancel: {
        video.cancel()
      }
    }
  }
}
