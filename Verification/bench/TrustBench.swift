import ArgumentParser
import FamilyCore
import FamilyModel
import FamilyTrust
import Foundation
import ZeroMQ

/// What a device pays for signing, verifying, sealing and opening. The relay pays none of it.
struct TrustBench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "trust",
    abstract: "Microseconds of each step of signing and sealing, on one core.",
    discussion: "Build everything first: swift build -c release")
  @Option(help: "How often each step is done for one time.") var times = 2_000
  @Option(help: "How many times are taken; the median is shown.") var rounds = 9

  func validate() throws {
    guard times >= 1, rounds >= 1 else {
      throw ValidationError("--times and --rounds are 1 or more.")
    }
  }

  private static func median(_ rounds: Int, _ times: Int, _ body: () -> Bool) -> Double {
    let taken = (0..<rounds).map { _ in
      let start = Monotonic.now()
      for _ in 0..<times { precondition(body(), "a step failed") }
      return Double(Monotonic.now() - start) / Double(times) / 1e3
    }
    return taken.sorted()[rounds / 2]
  }

  func run() {
    let (own, other) = (DeviceKeys(), DeviceKeys())
    let (vault, reader) = (KeyVault(own), KeyVault(other))
    let bytes = [UInt8](repeating: 7, count: 400)
    let binding = [UInt8](repeating: 1, count: 64)
    let signature = vault.sign(bytes)
    let key = vault.makeKey()
    let name = ContentKeyID(high: 1, low: 1)
    let wrapped = vault.wrap(key, for: reader.agreementKey, binding: binding)!
    let person = Subject(handle: Handle("dragonslayer42", .custom))
    var picture = person
    picture.avatar = Avatar(
      mediaType: "image/png", bytes: [UInt8](repeating: 9, count: Limits.avatarBytes))
    func content(_ subject: Subject) -> Content {
      .question(
        Question(
          id: ID128(high: 1, low: 1), topic: .communication(people: [subject], actions: .chat)))
    }
    let (small, large) = (content(person), content(picture))
    let sealed = vault.seal(small, name, key, binding: binding)
    let sealedLarge = vault.seal(large, name, key, binding: binding)
    let steps: [(String, () -> Bool)] = [
      ("sign a decision", { vault.sign(bytes).count == 64 }),
      ("verify a decision", { vault.verify(own.signingKey, signature, bytes) }),
      (
        "seal a question",
        { vault.keyName(of: vault.seal(small, name, key, binding: binding)) != nil }
      ),
      ("open a question", { vault.open(sealed, key, binding: binding) != nil }),
      (
        "seal one with a picture of 64 KiB",
        { vault.keyName(of: vault.seal(large, name, key, binding: binding)) != nil }
      ),
      (
        "open one with a picture of 64 KiB",
        { vault.open(sealedLarge, key, binding: binding) != nil }
      ),
      (
        "wrap a key for a device",
        { vault.wrap(key, for: reader.agreementKey, binding: binding) != nil }
      ),
      ("unwrap a key", { reader.unwrap(wrapped, binding: binding) == key }),
      ("an app takes a response, verified", AppOfBench(verifies: true).takesOne),
      ("an app takes a response, believing", AppOfBench(verifies: false).takesOne),
    ]
    for (label, step) in steps {
      print(
        label.padding(toLength: 36, withPad: " ", startingAt: 0)
          + String(format: "%8.1f µs", Self.median(rounds, times, step)))
    }
  }
}
