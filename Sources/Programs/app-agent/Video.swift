import ArgumentParser
import Foundation
import SensitiveContentAnalysis

/// A video file that somebody sent.
struct Video: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show a video file, or cover it if it may be sensitive.")
  @Argument(help: "An MP4, QuickTime, Matroska or WebM file.") var file: String

  func run() async throws {
    let handler = SCSensitivityAnalyzer().videoAnalysis(forFileAt: URL(fileURLWithPath: file))
    do {
      let analysis = try await handler.hasSensitiveContent()
      print("the video is \(analysis.isSensitive ? "covered: it is sensitive" : "shown")")
    } catch let problem as DeviceProblem where problem.isWithoutCheck {
      print("the video is shown unchecked")
    } catch {
      print("the video is covered: \(error)")
    }
  }
}
