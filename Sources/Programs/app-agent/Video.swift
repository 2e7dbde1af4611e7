import ArgumentParser
import Foundation
import SensitiveContentAnalysis

/// A video file that somebody sent.
struct Video: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show a video file, or cover it if it may be sensitive.")
  @Argument(help: "An MP4, QuickTime, Matroska or WebM file.") var file: String

  func run() async throws {
    let analyzer = SCSensitivityAnalyzer()
    let handler = analyzer.videoAnalysis(forFileAt: URL(fileURLWithPath: file))
    do {
      guard try await handler.hasSensitiveContent().isSensitive else {
        return print("the video is shown")
      }
      print("the video is covered: it is sensitive")
    } catch let problem as DeviceProblem where problem.isWithoutCheck {
      return print("the video is shown unchecked")
    } catch {
      print("the video is covered: \(error)")
    }
    analyzer.analysisPolicy.offerHelp()
  }
}
