import FamilyCore
import FamilyModel

/// The result of a read that a shard requested, as its worker receives it.
enum ReadCompletion: Sendable {
  /// The family was read.
  case family(FamilyID, LoadedFamily)
  /// The limit of unproven reads forbids the read for the key of the first request that waits.
  case denied(FamilyID)
  /// The family's records cannot be read.
  case damaged(FamilyID)
  /// The event of the command of the first request that waits; `nil`: the command is new.
  case result(CommandID, by: DeviceID, in: FamilyID, Event?)
  /// That event cannot be read.
  case damagedResult(FamilyID)
  /// The event is broadcast again.
  case republish(StoreRead.Republish, Event)
  /// The device pays for a page with this many bytes.
  case charge(bytes: Int, DeviceAddress)

  var family: FamilyID {
    switch self {
    case .family(let family, _), .denied(let family), .damaged(let family),
      .result(_, _, let family, _), .damagedResult(let family):
      family
    case .republish(let republish, _): republish.family
    case .charge(_, let device): device.family
    }
  }
}
