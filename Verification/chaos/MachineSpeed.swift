import Crypto
import Foundation
import ZeroMQ

/// How fast this machine is, so that rates of different machines can be compared.
struct MachineSpeed: Sendable {
  /// The processors that relay, agents and chaos share.
  var cores: Int
  /// Ed25519 signatures that one processor verifies in a second.
  var verifications: Double

  /// The seconds that the measurement takes.
  private static let seconds = 0.3

  /// Measures an idle machine.
  static func measured() throws -> MachineSpeed {
    let key = Curve25519.Signing.PrivateKey()
    let message = [UInt8](repeating: 7, count: 200)
    let signature = try key.signature(for: message)
    let begin = MonotonicInstant.now
    var count = 0
    while (MonotonicInstant.now - begin).seconds < seconds {
      guard key.publicKey.isValidSignature(signature, for: message) else { break }
      count += 1
    }
    return MachineSpeed(
      cores: ProcessInfo.processInfo.activeProcessorCount,
      verifications: Double(count) / (MonotonicInstant.now - begin).seconds)
  }

  /// One line for a report.
  var line: String {
    "\(cores) processors, each of which verifies \(Int(verifications)) Ed25519 signatures a second"
  }
}
