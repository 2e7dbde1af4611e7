import ArgumentParser
import Foundation
import SensitiveContentAnalysis

/// One side of a video call, whose frames come from another program.
struct Call: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Watch a live stream of raw frames.",
    discussion: """
      The frames have the format rgb24, without padding. Another program reads the camera or a file: \
      ffmpeg -re -i FILE -vf scale=1280:720 -pix_fmt rgb24 -f rawvideo - | app-agent call --width 1280 --height 720
      """)
  @Argument(help: "The file of the frames (default: standard input).") var file: String?
  @Option(help: "Pixels in a row of a frame.") var width = 1_280
  @Option(help: "Rows of a frame.") var height = 720
  @Flag(help: "The frames are those of this device's camera.") var outgoing = false

  func validate() throws {
    let sides = 16...8_192
    guard sides.contains(width), sides.contains(height) else {
      throw ValidationError("--width and --height are 16 to 8,192 pixels.")
    }
  }

  func run() async throws {
    let analyzer: SCVideoStreamAnalyzer
    do {
      analyzer = try SCVideoStreamAnalyzer(
        participantUUID: UUID().uuidString, streamDirection: outgoing ? .outgoing : .incoming)
    } catch let problem as DeviceProblem where problem.isWithoutCheck {
      return print("the stream is shown unchecked")
    }
    analyzer.analysisChangedHandler = { analysis, problem in
      // At once, also into a pipe.
      let line = "the stream is \(Self.treatment(analysis, problem))\n"
      FileHandle.standardOutput.write(Data(line.utf8))
    }
    let input = try file.map { try FileHandle(forReadingFrom: URL(fileURLWithPath: $0)) }
    var frames = 0
    let layout = SCPixelLayout(.rgb, width: width, height: height)
    while let frame = try Self.read(3 * width * height, from: input ?? .standardInput) {
      analyzer.analyze(frame.bytes, layout: layout)
      frames += 1
    }
    // The verdict on the last frame.
    try await Task.sleep(for: .seconds(1))
    analyzer.endAnalysis()
    print("\(frames) frames, \(analyzer.skippedFrames) of them skipped")
  }

  private static func treatment(_ analysis: SCSensitivityAnalysis?, _ problem: (any Error)?)
    -> String
  {
    guard let analysis else { return "shown unchecked" }
    if analysis.isSensitive { return "interrupted and muted: it is sensitive" }
    return analysis.shouldInterruptVideo
      ? "interrupted and muted: \(problem.map { "\($0)" } ?? "no verdict")" : "shown"
  }

  /// The next frame; `nil` at the end of the input.
  private static func read(_ count: Int, from input: FileHandle) throws -> Data? {
    var frame = Data(capacity: count)
    while frame.count < count {
      guard let part = try input.read(upToCount: count - frame.count),
        !part.isEmpty
      else { return nil }
      frame.append(part)
    }
    return frame
  }
}
