import FamilyCore
import FamilyModel
import Foundation
import SwiftProtobuf

extension Activity {
  var wire: PBActivity {
    .with {
      $0.name = name
      $0.number = number
      $0.start = start.milliseconds
      $0.end = end.milliseconds
      $0.warning = warning
      $0.thresholds = thresholds.map { threshold in
        .with {
          $0.name = threshold.name
          $0.seconds = threshold.seconds
          $0.sites = threshold.sites.map(\.name).sorted()
        }
      }
    }
  }

  init(_ wire: PBActivity) throws(Problem) {
    self.init(
      wire.name, number: wire.number, from: Instant(milliseconds: wire.start),
      to: Instant(milliseconds: wire.end), warning: wire.warning,
      thresholds: try Wire.map(wire.thresholds, limit: Limits.activityThresholds) {
        threshold throws(Problem) in
        let sites = try Wire.sites(threshold.sites, limit: Limits.managedSites)
        return Threshold(threshold.name, seconds: threshold.seconds, sites: Set(sites))
      })
  }
}

extension WatchedActivity {
  var wire: PBWatchedActivity {
    .with {
      $0.activity = activity.wire
      $0.reported = (isStartWarned ? 1 : 0) | (isStarted ? 2 : 0) | (isEndWarned ? 4 : 0)
      $0.uses = uses.map { use in
        .with {
          $0.seconds = use.seconds
          $0.reported = (use.isWarned ? 1 : 0) | (use.isReached ? 2 : 0)
        }
      }
      $0.counted = counted.sorted { $0.key < $1.key }.map { app, message in
        .with {
          $0.app = app.rawValue
          $0.message = message
        }
      }
    }
  }

  init(_ wire: PBWatchedActivity) throws(Problem) {
    self.init(try Activity(wire.activity))
    guard wire.uses.count == uses.count else { throw .malformed }
    isStartWarned = wire.reported & 1 != 0
    isStarted = wire.reported & 2 != 0
    isEndWarned = wire.reported & 4 != 0
    for (index, use) in wire.uses.enumerated() {
      uses[index].seconds = use.seconds
      uses[index].isWarned = use.reported & 1 != 0
      uses[index].isReached = use.reported & 2 != 0
    }
    for entry in wire.counted { counted[AppID(entry.app)] = entry.message }
  }
}

extension PlannedActivity {
  var wire: PBPlannedActivity {
    .with {
      $0.activity = activity.wire
      $0.schedule = Data(schedule)
      $0.confirmed = isConfirmed
    }
  }

  init(_ wire: PBPlannedActivity) throws(Problem) {
    self.init(
      try Activity(wire.activity), schedule: [UInt8](wire.schedule), isConfirmed: wire.confirmed)
  }
}

/// A moment of the interval with this number.
func wire(
  _ name: String, _ number: UInt64, _ moment: ActivityMoment, at time: Instant
) -> PBActivityMoment {
  .with {
    $0.activity = name
    $0.number = number
    $0.at = time.milliseconds
    switch moment {
    case .startsSoon: $0.kind = 1
    case .started: $0.kind = 2
    case .endsSoon: $0.kind = 3
    case .ended: $0.kind = 4
    case .reachesSoon(let threshold): ($0.kind, $0.threshold) = (5, threshold)
    case .reached(let threshold): ($0.kind, $0.threshold) = (6, threshold)
    }
  }
}

extension ActivityMoment {
  init(_ wire: PBActivityMoment) throws(Problem) {
    switch wire.kind {
    case 1: self = .startsSoon
    case 2: self = .started
    case 3: self = .endsSoon
    case 4: self = .ended
    case 5: self = .reachesSoon(wire.threshold)
    case 6: self = .reached(wire.threshold)
    default: throw .malformed
    }
  }
}
