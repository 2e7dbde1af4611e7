import ArgumentParser
import Foundation
import SensitiveContentAnalysis

/// A picture that somebody sent.
struct Picture: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show a picture, or cover it if it may be sensitive.")
  @Argument(help: "A PNG, JPEG, GIF or WebP file.") var file: String

  func run() async throws {
    let analyzer = SCSensitivityAnalyzer()
    do {
      let analysis = try await analyzer.analyzeImage(at: URL(fileURLWithPath: file))
      guard analysis.isSensitive else { return print("the picture is shown") }
      print("the picture is covered: it is sensitive")
    } catch let problem as DeviceProblem where problem.isWithoutCheck {
      // No device, or no guardian who has pictures checked.
      return print("the picture is shown unchecked")
    } catch {
      // No verdict is not a clean one.
      print("the picture is covered: \(error)")
    }
    analyzer.analysisPolicy.offerHelp()
  }
}

extension SCSensitivityAnalysisPolicy {
  /// Prints what a person may do about a covered picture or video. Showing it is the last offer, and
  /// comes after an explanation if the guardians chose so.
  func offerHelp() {
    print("you may leave, tell an adult whom you trust, or block the sender")
    switch self {
    case .simpleInterventions: print("a tap shows it anyway")
    case .descriptiveInterventions:
      print("such pictures can hurt, and the people in them may not want others to see them")
      print("after these words, a tap shows it anyway")
    default: break
    }
  }
}
