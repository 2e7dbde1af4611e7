import ContentCheck
import FamilyModel
import Foundation
import Subprocess
import SystemPackage
import Testing

/// `onnx-classifier` with a model that knows red pictures, in a Python of its own.
private struct Model {
  let folder: Folder
  /// The output of `prepare`.
  let report: String
  var program: URL { folder.url.appendingPathComponent("onnx/classifier") }

  /// `nil` if the package index has no answer.
  init?() async throws {
    folder = try Folder()
    let model = folder.url.appendingPathComponent("tiny.onnx")
    try TinyModel.file.write(to: model)
    let result = try await Subprocess.run(
      .path(FilePath(Self.sources.appendingPathComponent("prepare").path)),
      arguments: [folder.url.appendingPathComponent("onnx").path, model.path, "--sensitive", "0"],
      output: .string(limit: 1 << 20), error: .string(limit: 1 << 20))
    if case .exited(77) = result.terminationStatus {
      print("skipped  an ONNX model: the package index has no answer")
      return nil
    }
    try #require(result.terminationStatus.isSuccess, "\(result.standardError)")
    report = result.standardOutput
  }

  /// Checks the program with another model.
  func check(_ file: Data) async throws -> (exitStatus: Int32?, errors: String) {
    try file.write(to: folder.url.appendingPathComponent("onnx/model.onnx"))
    let result = try await Subprocess.run(
      .path(FilePath(program.path)), arguments: ["--check"], output: .discarded,
      error: .string(limit: 1 << 20))
    if case .exited(let status) = result.terminationStatus { return (status, result.standardError) }
    return (nil, result.standardError)
  }

  private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Sources/Programs/onnx-classifier")
}

@Suite(.timeLimit(.minutes(10))) struct ModelTests {
  private static let red = picture(
    "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mP8z0AaYGIY1TCqYdhqAABALgEfFO4+Ag"
      + "AAAABJRU5ErkJggg==")
  private static let blue = picture(
    "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAGklEQVR42mNkYPjPQApgYiARjGoY1TB0NAAAPjABHx"
      + "w3M2AAAAAASUVORK5CYII=")
  /// PNG pictures that viewers show in different ways: one with a gamma of 5, one with a transparent colour.
  private static let ambiguous = [
    picture(
      "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAABGdBTUEAB6EgAhjbqAAAABFJREFUeNpjVGDADpgYhpQEAB/oADCr"
        + "tsC7AAAAAElFTkSuQmCC"),
    picture(
      "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAAAAADhZOFXAAAAAnRSTlMABQb5ObcAAAAMSURBVHjaY2CgDgAAAEgAARBF79IAAAAASUVO"
        + "RK5CYII="),
  ]
  /// A valid head, and no pixels.
  private static let broken = Avatar(mediaType: "image/png", bytes: Array(red.bytes.prefix(50)))

  private static func picture(_ text: String) -> Avatar {
    Avatar(mediaType: "image/png", bytes: Array(Data(base64Encoded: text)!))
  }

  @Test("S2: an operator's ONNX model checks pictures in a confined process")
  func model() async throws {
    guard let model = try await Model() else { return }
    for action in ["files", "network", "other programs", "executable memory"] {
      #expect(model.report.contains("\(action): denied"))
    }
    try await checkClassifier(model)
    try await checkWorker(model)
    let check = try await model.check(Data("no model".utf8))
    #expect(check.exitStatus == 64 && check.errors.contains("is no ONNX model"))
  }

  private func checkClassifier(_ model: Model) async throws {
    let classifier = ClassifierProgram(program: model.program)
    #expect(try await classifier.start().isConfined)
    #expect(await classifier.classify(Self.red) == .sensitive)
    #expect(await classifier.classify(Self.blue) == .clean)
    for picture in Self.ambiguous + [Self.broken] {
      #expect(await classifier.classify(picture) == .unknown)
    }
    // The drawings are nearly white, so their mean red is large. No format reads another's bytes.
    let drawings = [
      "image/jpeg": Drawing.jpeg, "image/gif": Drawing.gif, "image/webp": Drawing.webp,
    ]
    for (format, bytes) in drawings {
      for mediaType in drawings.keys {
        let verdict = await classifier.classify(Avatar(mediaType: mediaType, bytes: bytes))
        #expect(verdict == (mediaType == format ? .sensitive : .unknown))
      }
    }
    kill(try #require(classifier.process), SIGKILL)
    #expect(await classifier.classify(Self.blue) == .unknown)
    #expect(await classifier.classify(Self.blue) == .clean)
    await classifier.stop()
  }

  /// Checks a worker that flags pictures by its list and by the model.
  private func checkWorker(_ model: Model) async throws {
    try model.folder.write(line(Self.blue))
    let worker = try WorkerProcess(model.folder, ["--classifier", model.program.path])
    let client = try ContentClient(directory: model.folder.url, timeout: patience)
    #expect(await client.verdict(on: Self.red) == .sensitive)
    #expect(await client.verdict(on: Self.blue) == .sensitive)
    try model.folder.write("")
    #expect(await client.verdict(on: Self.blue) == .clean)
    worker.end()
    await client.stop()
  }

  @Test(
    "S2: a program that sends more than one message for a picture gives no verdict on the next one")
  func surplus() async throws {
    let folder = try Folder()
    let program = folder.url.appendingPathComponent("twice")
    let script = """
      #!/usr/bin/python3
      import socket
      channel = socket.socket(fileno=0)
      channel.send(bytes([1, 0, 0]))
      while channel.recv(1):
          channel.send(bytes([0]))
          channel.send(bytes([0]))
      """
    try Data(script.utf8).write(to: program)
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o700], ofItemAtPath: program.path)
    let classifier = ClassifierProgram(program: program)
    #expect(await classifier.classify(Self.red) == .clean)
    // The second message may arrive later than the next picture.
    #expect(await eventually { await classifier.classify(Self.red) == .unknown })
    await classifier.stop()
  }

  @Test("S2: without its program a classifier has no verdict") func missing() async throws {
    let missing = ClassifierProgram(program: URL(fileURLWithPath: "/missing"))
    await #expect(throws: ProcessFailure.self) { try await missing.start() }
    #expect(await missing.classify(Self.red) == .unknown)
  }

  @Test("S2: several classifiers are sensitive if one is, and clean if all are")
  func several() async {
    struct Fixed: Classifier {
      let verdict: ContentVerdict
      func classify(_ picture: Avatar) async -> ContentVerdict { verdict }
    }
    func verdict(_ verdicts: ContentVerdict...) async -> ContentVerdict {
      await Classifiers(verdicts.map(Fixed.init(verdict:))).classify(Self.red)
    }
    #expect(await verdict(.clean, .clean) == .clean)
    #expect(await verdict(.clean, .unknown) == .unknown)
    #expect(await verdict(.unknown, .clean) == .unknown)
    #expect(await verdict(.unknown, .sensitive) == .sensitive)
    #expect(await verdict() == .unknown)
  }
}
