import FamilyModel
import Foundation
import SwiftProtobuf

func evidenceList(_ list: [PBEvidence]) throws(Problem) -> [Evidence] {
  try Wire.map(list, limit: Limits.evidence) { evidence throws(Problem) in try Evidence(evidence) }
}

extension Evidence {
  var wire: PBEvidence {
    .with {
      $0.event = event.wire
      if let question { $0.question = question.wire }
      $0.key = Data(key)
      guard let tags else { return }
      $0.appTag = Data(tags.app)
      $0.appKey = Data(tags.appKey)
      $0.subjects = tags.items.map { item in
        .with {
          $0.tag = Data(item.tag)
          $0.key = Data(item.key)
          $0.item = Data(item.item)
        }
      }
    }
  }

  init(_ wire: PBEvidence) throws(Problem) {
    self.init(
      event: try Event(wire.event),
      question: wire.hasQuestion ? try QuestionHeader(wire.question) : nil,
      key: [UInt8](wire.key))
    guard !wire.appTag.isEmpty else { return }
    tags = SubjectTags(
      app: [UInt8](wire.appTag), appKey: [UInt8](wire.appKey),
      items: try Wire.map(wire.subjects, limit: Limits.subjects + Limits.choices) {
        item throws(Problem) in
        guard item.item.count <= Limits.textBytes + 1 else { throw .tooLarge }
        return SubjectTags.Tag(
          tag: [UInt8](item.tag), key: [UInt8](item.key), item: [UInt8](item.item))
      })
  }
}

extension RosterProof {
  var wire: PBRosterProof {
    .with {
      $0.seq = seq
      $0.command = Data(command.bytes)
      $0.signature = signature.wire
      $0.roster = roster.wire
      $0.rest = Data(hiddenDigest)
    }
  }

  init(_ wire: PBRosterProof) throws(Problem) {
    self.init(
      seq: wire.seq, command: try Wire.id(wire.command), signature: try Signature(wire.signature),
      roster: try Roster(withoutNames: wire.roster), hiddenDigest: [UInt8](wire.rest))
  }
}

extension Roster {
  /// Decodes a roster without names, CURVE keys and agreement keys, which apps do not receive.
  fileprivate init(withoutNames wire: PBRoster) throws(Problem) {
    self.init(
      persons: try Wire.map(wire.persons, limit: Limits.persons) { person throws(Problem) in
        let role = try Wire.require(UInt8(exactly: person.role).flatMap(Role.init))
        return Person(id: PersonID(person.id), role: role, displayName: "")
      },
      devices: try Wire.map(wire.devices, limit: Limits.devices) { device throws(Problem) in
        guard [0, 32].contains(device.signingKey.count) else { throw .malformed }
        return Device(
          id: DeviceID(device.id), person: PersonID(device.person), publicKey: [],
          signingKey: [UInt8](device.signingKey))
      })
  }
}
