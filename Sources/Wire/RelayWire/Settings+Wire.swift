import FamilyModel
import Foundation
import SwiftProtobuf

/// A change of a person's settings, with a proof if the child's own device sends the change.
protocol ProvenChange: SwiftProtobuf.Message {
  var person: UInt32 { get set }
  var content: Data { get set }
  var proof: Data { get set }
}

extension PBSetAge: ProvenChange {}
extension PBChangeSettings: ProvenChange {}

extension ProvenChange {
  init(_ person: PersonID, _ content: Content, _ proof: [UInt8]) {
    self.init()
    self.person = person.rawValue
    self.content = Data(content.bytes)
    self.proof = Data(proof)
  }

  /// The person, the sealed settings, and the proof.
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
