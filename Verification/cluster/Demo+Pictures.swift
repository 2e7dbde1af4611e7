import Foundation
import ProcessCluster

/// The check of pictures and calls, without a worker and with one.
extension Transcript {
  func pictures() async throws {
    title("15. Rosa has Emily's pictures checked, and no worker runs: Landmarks covers the picture")
    let file = layout.scripts.appendingPathComponent("picture.png")
    try Self.onePixel.write(to: file)
    try await until("unchecked, the picture is shown") {
      try await landmarks(1, ["picture", file.path]) == "the picture is shown unchecked\n"
    }
    try await rosa("communication-safety", "descriptive", "--child", "Emily")
    try await until(
      "without a verdict, the picture is covered, and Emily is told where to get help"
    ) {
      let text = try await landmarks(1, ["picture", file.path])
      return text.contains("covered") && text.contains("an adult whom you trust")
        && text.contains("after these words")
    }
    let frames = layout.scripts.appendingPathComponent("call.rgb")
    let side = 64
    // Three seconds: a busy machine interrupts the stream only after one.
    try Data(repeating: 128, count: 3 * side * side * 90).write(to: frames)
    try await until("a call without verdicts is interrupted and muted") {
      try await landmarks(1, ["call", frames.path, "--width", "\(side)", "--height", "\(side)"])
        .contains("the stream is interrupted and muted")
    }
    try await worker(file)
  }

  /// A worker starts, is killed and starts again.
  private func worker(_ listed: URL) async throws {
    let worker = cluster.agent(Self.worker)
    worker.releaseRestart()
    try await until("a worker starts, and the picture is on its list") {
      try await landmarks(1, ["picture", listed.path])
        .hasPrefix("the picture is covered: it is sensitive\n")
    }
    let other = layout.scripts.appendingPathComponent("other.png")
    try Self.otherPixel.write(to: other)
    try await landmarks(shows: true, other, "another picture is clean, and shown")
    worker.holdRestart()
    worker.signal(SIGKILL)
    try await landmarks(shows: false, other, "the worker is killed, and the picture covered")
    worker.releaseRestart()
    try await landmarks(shows: true, other, "the worker is back")
  }

  /// Waits until Landmarks shows or covers a picture by the worker's verdict.
  private func landmarks(shows isShown: Bool, _ picture: URL, _ what: String) async throws {
    try await until(what) {
      let text = try await landmarks(1, ["picture", picture.path])
      return isShown ? text == "the picture is shown\n" : text.hasPrefix("the picture is covered:")
    }
  }

  /// The program that checks pictures, and its name in the cluster.
  static let worker = "content-worker"
  /// The SHA-256 of ``onePixel``.
  static let listedHash =
    "c414cd0e204de974f73753c7e28d7638e7b3691bb8b1a2bab6b25bb7fed7ce77"

  /// A PNG image of one pixel.
  private static let onePixel = Data(
    base64Encoded:
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
  )!

  /// A picture that is not on the worker's list.
  private static let otherPixel = Data(
    base64Encoded:
      "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAGklEQVR42mNkYPjPQApgYiARjGoY1TB0NAAAPjABHxw3M2AAAAAASUVORK5CYII="
  )!
}
