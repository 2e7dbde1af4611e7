import FamilyModel
import FamilyTrust
import Foundation
import RelayStore
import RelayWire
import SQLiteStore

@testable import FamilyCore

/// The golden files of the released versions: the stores of each, and the state derived from them.
enum Golden {
  static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Golden")

  /// The folders of the released versions.
  static var versions: [URL] {
    let all = try? FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    return (all ?? []).filter(\.hasDirectoryPath).sorted { $0.path < $1.path }
  }

  /// The folder that this run writes; `nil`: none. `tools/golden` sets the variable.
  static let written = ProcessInfo.processInfo.environment["PERMISSION_RELAY_GOLDEN"]
    .map { folder.appendingPathComponent($0) }

  /// The secrets of the golden family's devices, as hexadecimal digits.
  struct Keys: Codable {
    var signing: String
    var agreement: String

    init(_ keys: DeviceKeys) {
      (signing, agreement) = (keys.signingSecret.hex, keys.agreementSecret.hex)
    }

    var deviceKeys: DeviceKeys? {
      DeviceKeys(signingSecret: [UInt8](hex: signing), agreementSecret: [UInt8](hex: agreement))
    }
  }

  /// The state that the version derived from its files.
  struct Derived: Codable, Equatable {
    var head: UInt64
    var members: [String]
    /// The lines of the conversation, the known handles, the app's known handles and the size of the
    /// outbox, by device.
    var lines: [String: [String]] = [:]
    var known: [String: [String]] = [:]
    var appKnown: [String: [String]] = [:]
    var outbox: [String: Int] = [:]
    var newer: [String: Int] = [:]

    init(_ home: SignedFamily) {
      let state = home.relay.state(of: SignedFamily.family)!
      head = state.seq
      members = state.roster.persons.map { "\($0.role) \($0.displayName)" }
      for id: UInt32 in [1, 2, 3, 4] {
        let link = home.children[id]?.link ?? home.guardians[id]!.link
        lines["\(id)"] = link.conversations[SignedFamily.emily]!.lines.map {
          "\($0.seq) \($0.summary)"
        }
        outbox["\(id)"] = link.pendingCommands.count
        newer["\(id)"] = link.newerCount
      }
      for id: UInt32 in [3, 4] {
        known["\(id)"] = home.children[id]!.knownHandles(in: SignedFamily.app).map(\.value)
        appKnown["\(id)"] = home.known(id)
      }
    }
  }
}

extension Line {
  fileprivate var summary: String {
    switch body {
    case .question: "question"
    case .text(let text): "text \(text)"
    case .reminder: "reminder"
    case .decision(_, let choice): "decision \(choice.id)"
    case .cancellation: "cancellation"
    case .inPerson(_, let choice): "in person \(choice.id)"
    case .withdrawal(.handle(let handle, _)): "withdrawal \(handle.value)"
    case .withdrawal: "withdrawal of consent"
    case .newer: "newer"
    }
  }
}

extension [UInt8] {
  var hex: String { map { String(format: "%02x", $0) }.joined() }

  init(hex: String) {
    var digits = hex[...]
    self = []
    while !digits.isEmpty {
      append(UInt8(digits.prefix(2), radix: 16) ?? 0)
      digits = digits.dropFirst(2)
    }
  }
}
