import ArgumentParser
import FamilyCore
import FamilyModel
import FamilyTrust
import Foundation
import Statistics
import TextTable
import ZeroMQ

/// Measures a device's cryptography: signing, verifying, sealing and opening. The relay does none
/// of this.
struct TrustBench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "trust",
    abstract: "Measure each cryptographic step on one core, in microseconds.",
    discussion: "Build everything first: swift build -c release")
  @Option(help: "Repetitions of a step in one measurement.") var times = 2_000
  @Option(help: "Measurements of each step; the median is shown.") var rounds = 9

  func validate() throws {
    guard times >= 1, rounds >= 1 else {
      throw ValidationError("--times and --rounds are 1 or more.")
    }
  }

  private static func median(_ rounds: Int, _ times: Int, _ body: () -> Bool) -> Double {
    let taken = (0..<rounds).map { _ in
      let start = MonotonicInstant.now
      for _ in 0..<times { precondition(body(), "a step failed") }
      return (MonotonicInstant.now - start).seconds / Double(times) * 1e6
    }
    return taken.quantile(0.5) ?? .nan
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
        "seal a question with a 64 KiB image",
        { vault.keyName(of: vault.seal(large, name, key, binding: binding)) != nil }
      ),
      (
        "open a question with a 64 KiB image",
        { vault.open(sealedLarge, key, binding: binding) != nil }
      ),
      (
        "wrap a key for a device",
        { vault.wrap(key, for: reader.agreementKey, binding: binding) != nil }
      ),
      ("unwrap a key", { reader.unwrap(wrapped, binding: binding) == key }),
      ("receive a response in an app, verified", BenchApp(verifies: true).receiveResponse),
      ("receive a response in an app, unverified", BenchApp(verifies: false).receiveResponse),
    ]
    print(
      Table.render(
        steps.map { label, step in
          [label, String(format: "%.1f µs", Self.median(rounds, times, step))]
        }))
  }
}
