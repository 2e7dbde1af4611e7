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
    let input = try FileHandle(forReadingFrom: URL(fileURLWithPath: file))
    // A larger picture is refused.
    let picture = try input.read(upToCount: 65_537) ?? Data()
    do {
      let analysis = try await analyzer.analyzeImage(picture)
      guard analysis.isSensitive else { return print("the picture is shown") }
      print("the picture is covered: it is sensitive")
    } catch let problem as DeviceProblem where problem.isWithoutCheck {
      // No device, or no guardian who has pictures checked.
      return print("the picture is shown unchecked")
    } catch {
      // No verdict is not a clean one.
      print("the picture is covered: \(error)")
    }
    // Nothing for a picture that cannot be decoded.
    if let blurred = try? await analyzer.blurredImage(picture) {
      print(blurred.text(inColor: isatty(STDOUT_FILENO) == 1))
    }
    analyzer.analysisPolicy.offerHelp()
  }
}

extension SCSensitivityAnalyzer.BlurredImage {
  /// The picture in characters: two for each pixel, without color as shades of grey.
  fileprivate func text(inColor: Bool) -> String {
    let shades = [" ", "░", "▒", "▓", "█"]
    return (0..<height).map { row in
      let pixels = (0..<width).map { column in
        let first = 3 * (row * width + column)
        let color = rgb[first..<first + 3]
        if inColor { return "\u{1B}[48;2;\(color.map(String.init).joined(separator: ";"))m  " }
        let shade = shades[color.reduce(0) { $0 + Int($1) } * (shades.count - 1) / (3 * 255)]
        return shade + shade
      }
      return pixels.joined() + (inColor ? "\u{1B}[0m" : "")
    }.joined(separator: "\n")
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
