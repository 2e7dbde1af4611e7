import ContentCheck
import FamilyModel
import Foundation
import PerceptualHash
import Testing
import ZeroMQ

@Suite struct DecoderTests {
  private static let formats = [
    Avatar(mediaType: "image/png", bytes: Drawing.png),
    Avatar(mediaType: "image/jpeg", bytes: Drawing.jpeg),
    Avatar(mediaType: "image/gif", bytes: Drawing.gif),
    Avatar(mediaType: "image/webp", bytes: Drawing.webp),
  ]
  private static let other = Avatar(mediaType: "image/png", bytes: Drawing.otherPNG)

  /// The perceptual hash of ``Drawing/png``, by the authors' implementation.
  private static let listed =
    "pdq 42da493546d106e9edb16c5eb0ad68daadf4b0dad0ae392a57d117a95f839056\n"

  private static let program = URL(fileURLWithPath: CommandLine.arguments[0])
    .deletingLastPathComponent().appendingPathComponent("content-decoder")

  private func list(_ text: String, _ decoder: PictureDecoder?) throws -> (Folder, HashList) {
    let folder = try Folder()
    try folder.write(text)
    return (folder, try HashList(folder.list, decoder: decoder))
  }

  @Test("S2: one drawing in other sizes and formats is near its listed hash")
  func near() async throws {
    let decoder = PictureDecoder(program: Self.program, timeout: patience)
    let (folder, list) = try list(Self.listed, decoder)
    defer { withExtendedLifetime(folder) {} }
    for picture in Self.formats {
      try picture.validate()
      #expect(await list.classify(picture) == .sensitive, "\(picture.mediaType)")
    }
    #expect(await list.classify(Self.other) == .clean)
    // One pixel has no detail.
    #expect(await list.classify(picture(1)) == .clean)
    guard case .hashed(let rated) = await decoder.reply(to: Self.formats[0]) else {
      return #expect(Bool(false))
    }
    #expect("pdq \(rated.hash)\n" == Self.listed && rated.quality == 100)
    await decoder.stop()
  }

  @Test("S2: a picture that cannot be compared is unknown, and stays sensitive by its bytes")
  func unknown() async throws {
    let decoder = PictureDecoder(program: Self.program, timeout: patience)
    let broken = Avatar(mediaType: "image/png", bytes: Array(Drawing.png.prefix(120)))
    let (folder, list) = try list(Self.listed + line(picture(2)), decoder)
    defer { withExtendedLifetime(folder) {} }
    #expect(await list.classify(broken) == .unknown)
    await decoder.stop()
    let missing = PictureDecoder(program: folder.url.appendingPathComponent("missing"))
    for decoder in [missing, nil] {
      let list = try HashList(folder.list, decoder: decoder)
      #expect(await list.classify(Self.other) == .unknown)
      #expect(await list.classify(picture(2)) == .sensitive)
    }
  }

  @Test("S2: a list without perceptual hashes needs no decoder")
  func exact() async throws {
    let decoder = PictureDecoder(program: Self.program, timeout: patience)
    let (folder, list) = try list(line(Self.other), decoder)
    defer { withExtendedLifetime(folder) {} }
    #expect(await !list.needsDecoder)
    #expect(await list.classify(Self.other) == .sensitive)
    #expect(await list.classify(Self.formats[0]) == .clean)
    #expect(decoder.process == nil)
  }

  @Test(
    "S2: a decoder that is killed or hangs makes its picture unknown, and another one starts",
    arguments: [SIGKILL, SIGSTOP])
  func dies(_ signal: Int32) async throws {
    let hangs = signal == SIGSTOP
    let decoder = PictureDecoder(program: Self.program, timeout: .seconds(hangs ? 20 : 600))
    let (folder, list) = try list(Self.listed, decoder)
    defer { withExtendedLifetime(folder) {} }
    for _ in 0..<(hangs ? 1 : 3) {
      #expect(await list.classify(Self.formats[1]) == .sensitive)
      let process = try #require(decoder.process)
      kill(process, signal)
      #expect(await list.classify(Self.formats[1]) == .unknown)
      #expect(decoder.process == nil)
    }
    #expect(await list.classify(Self.other) == .clean)
    await decoder.stop()
  }

  @Test("S2: damaged pictures never end the decoding of others")
  func damaged() async throws {
    let decoder = PictureDecoder(program: Self.program, timeout: patience)
    var random = SystemRandomNumberGenerator()
    for number in 0..<400 {
      var picture = Self.formats[number % Self.formats.count]
      for _ in 0..<4 {
        let index = Int.random(in: 8..<picture.bytes.count, using: &random)
        picture.bytes[index] = UInt8.random(in: 0...255, using: &random)
      }
      _ = await decoder.reply(to: picture)
    }
    guard case .hashed = await decoder.reply(to: Self.formats[3]) else {
      return #expect(Bool(false))
    }
    await decoder.stop()
  }

  @Test("S2: a program that does not confine itself decodes nothing")
  func unconfined() async throws {
    let decoder = PictureDecoder(program: URL(fileURLWithPath: "/bin/cat"))
    await #expect(throws: ProcessFailure.self) { try await decoder.start() }
    #expect(await decoder.reply(to: Self.other) == nil)
    #expect(decoder.process == nil)
  }

  @Test("S2: a decoder reaches no file, network, program or process, and makes no code")
  func confinement() async throws {
    let decoder = PictureDecoder(program: Self.program, timeout: patience)
    #expect(try await decoder.start().isConfined)
    await decoder.stop()
    let process = Process()
    process.executableURL = Self.program
    process.arguments = ["--check"]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(
      decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(text.split(separator: "\n").count { $0.hasSuffix(": denied") } == 5, "\(text)")
  }

  @Test("S2: a worker process finds a listed drawing in another format")
  func worker() async throws {
    let folder = try Folder()
    try folder.write(Self.listed)
    let worker = try WorkerProcess(folder)
    let client = try ContentClient(directory: folder.url, timeout: patience)
    // A busy machine may take longer for the first picture than the worker waits.
    #expect(await eventually { await client.verdict(on: Self.formats[1]) == .sensitive })
    #expect(await eventually { await client.verdict(on: Self.other) == .clean })
    #expect(worker.end(SIGTERM) == 0)
    await client.stop()
  }
}
