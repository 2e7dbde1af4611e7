import FamilyModel
import Foundation
import SwiftProtobuf

extension Account.Day {
  var wire: PBAccount.Day {
    .with {
      $0.year = year
      $0.month = UInt32(month)
      $0.day = UInt32(day)
    }
  }

  init(_ wire: PBAccount.Day) throws(Problem) {
    guard Limits.years ~= wire.year, 1...12 ~= wire.month, 1...31 ~= wire.day else {
      throw .malformed
    }
    self.init(year: wire.year, month: UInt8(wire.month), day: UInt8(wire.day))
  }
}

extension AgeRange {
  var wire: PBAgeRange {
    .with {
      if let lower { $0.lower = lower }
      if let upper { $0.upper = upper }
      $0.declaration = declaration.map { UInt32($0.rawValue) } ?? 0
      $0.controls = controls.rawValue
    }
  }

  init(_ wire: PBAgeRange) throws(Problem) {
    guard Limits.ages ~= wire.lower, Limits.ages ~= wire.upper else { throw .malformed }
    var declaration: Account.Declaration?
    if wire.declaration != 0 { declaration = try Account.Declaration(wire: wire.declaration) }
    self.init(
      lower: wire.hasLower ? wire.lower : nil, upper: wire.hasUpper ? wire.upper : nil,
      declaration: declaration, controls: AgeControls(rawValue: wire.controls))
  }
}

extension Account.Declaration {
  init(wire: UInt32) throws(Problem) {
    self = try Wire.require(UInt8(exactly: wire).flatMap(Self.init))
  }
}

/// An app's age answer; `nil` forgets every answer to the app.
func wire(_ app: AppID, _ answer: AgeAnswer?) -> PBAgeMemory {
  .with {
    $0.app = app.rawValue
    guard let answer else { return }
    $0.answer = .with {
      $0.gates = answer.gates
      $0.day = answer.day.wire
      if let range = answer.range { $0.range = range.wire }
      if let lower = answer.known.lower { $0.knownLower = lower }
      if let upper = answer.known.upper { $0.knownUpper = upper }
    }
  }
}

func ageMemory(_ wire: PBAgeMemory) throws(Problem) -> Content {
  guard wire.app.utf8.count <= Limits.identifierBytes else { throw .tooLarge }
  guard wire.hasAnswer else { return .ageMemory(AppID(wire.app), nil) }
  guard wire.answer.gates.count <= 3 else { throw .tooLarge }
  let known = [wire.answer.knownLower, wire.answer.knownUpper]
  guard (wire.answer.gates + known).allSatisfy({ Limits.ages ~= $0 }) else { throw .malformed }
  let answer = AgeAnswer(
    gates: wire.answer.gates, day: try Account.Day(wire.answer.day),
    range: wire.answer.hasRange ? try AgeRange(wire.answer.range) : nil,
    known: AgeSpan(
      lower: wire.answer.hasKnownLower ? wire.answer.knownLower : nil,
      upper: wire.answer.hasKnownUpper ? wire.answer.knownUpper : nil))
  return .ageMemory(AppID(wire.app), answer)
}

extension AgeSharing {
  init(wire: UInt32) throws(Problem) {
    self = try Wire.require(UInt8(exactly: wire).flatMap(Self.init))
  }
}

extension AgeRating? {
  var wire: UInt32 { UInt32(self?.rawValue ?? 0) }

  init(wire: UInt32) throws(Problem) {
    self = wire == 0 ? nil : try Wire.require(UInt8(exactly: wire).flatMap(AgeRating.init))
  }
}

extension AgeSettings {
  var wire: PBAgeSettings {
    .with {
      $0.sharing = UInt32(sharing.rawValue)
      $0.apps = apps.sorted { $0.key < $1.key }.map { app, sharing in
        .with {
          $0.app = app.rawValue
          $0.sharing = UInt32(sharing.rawValue)
        }
      }
      $0.ceiling = ceiling.wire
      $0.sandbox = sandbox?.rawValue ?? ""
    }
  }

  init(_ wire: PBAgeSettings) throws(Problem) {
    self.init()
    sharing = try AgeSharing(wire: wire.sharing)
    guard wire.apps.count <= Limits.ageApps else { throw .tooLarge }
    for app in wire.apps { apps[AppID(app.app)] = try AgeSharing(wire: app.sharing) }
    ceiling = try AgeRating?(wire: wire.ceiling)
    // A case of a later version is ignored: the account answers.
    sandbox = SandboxCase(rawValue: wire.sandbox)
    try validate()
  }
}

func wire(_ id: UInt64, _ reply: AgeReply) -> PBAgeTold {
  .with {
    $0.id = id
    switch reply {
    case .shared(let range): $0.shared = range.wire
    case .declined: $0.declined = PBEmpty()
    case .status(let isEligible, let features):
      $0.status = .with {
        $0.eligible = isEligible
        $0.features = features.rawValue
      }
    case .acknowledged: $0.acknowledged = PBEmpty()
    case .rating(let rating): $0.rating = rating.wire
    case .failed(let problem): $0.failed = problem.wire
    }
  }
}

func ageReply(_ wire: PBAgeTold) throws(Problem) -> AgeReply {
  switch wire.body {
  case .shared(let range): return .shared(try AgeRange(range))
  case .declined: return .declined
  case .status(let status):
    return .status(
      isEligible: status.eligible, features: RegulatoryFeatures(rawValue: status.features))
  case .acknowledged: return .acknowledged
  case .rating(let rating): return .rating(try AgeRating?(wire: rating))
  case .failed(let problem): return .failed(try Problem(problem))
  case nil: throw .malformed
  }
}
