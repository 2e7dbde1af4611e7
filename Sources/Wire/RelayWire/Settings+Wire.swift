import FamilyModel
import Foundation
import SwiftProtobuf

func changeSettings(_ child: PersonID, _ content: Content, _ proof: [UInt8]) -> PBChangeSettings {
  .with {
    $0.person = child.rawValue
    $0.content = Data(content.bytes)
    $0.proof = Data(proof)
  }
}

extension PBChangeSettings {
  /// The child, the sealed setting, and the proof.
  var parts: (PersonID, Content, proof: [UInt8]) {
    get throws(Problem) {
      (
        PersonID(person), try Content(carried: content, limit: Limits.accountContentBytes),
        proof: proof.isEmpty ? [] : try Wire.signatureBytes(proof)
      )
    }
  }
}

extension WebRules {
  var wire: PBWebRules {
    .with {
      $0.others = UInt32(others.rawValue)
      $0.rules = sites.sorted { $0.key < $1.key }.map { site, access in
        .with {
          $0.site = site.name
          $0.access = UInt32(access.rawValue)
        }
      }
      $0.report = UInt32(report.rawValue)
    }
  }

  init(_ wire: PBWebRules) throws(Problem) {
    self.init()
    others = try Wire.require(UInt8(exactly: wire.others).flatMap(WebAccess.init))
    guard wire.rules.count <= Limits.webSites else { throw .tooLarge }
    for rule in wire.rules {
      let access = try Wire.require(UInt8(exactly: rule.access).flatMap(WebAccess.init))
      sites[try Wire.require(Site(rule.site))] = access
    }
    guard sites.count == wire.rules.count else { throw .malformed }
    report = try Wire.require(UInt8(exactly: wire.report).flatMap(WebReport.init))
  }
}

extension CommunicationSafety {
  init(wire: UInt32) throws(Problem) {
    self = try Wire.require(UInt8(exactly: wire).flatMap(Self.init))
  }
}
