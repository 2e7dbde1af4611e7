import FamilyCore
import FamilyModel
import RelayPipeline
import RelayWire

/// A rare path. A long run without an adversary must reach each one, or its verdicts prove less than
/// they seem to.
public enum Probe: String, CaseIterable, Sendable {
  // The relay's process and disk.
  case relayLosesPower = "the relay loses power"
  case relayCrashesInCommit = "the relay crashes within a commit"
  case relayDiskFull = "the relay's disk is full"
  case relayReadFails = "the relay's disk fails to read"
  case relayWriteFails = "the relay's disk fails to write"
  case relaySyncFails = "the relay's disk fails to sync"
  case relayDiskDamaged = "the relay's store is damaged"
  case relayClockSetBack = "the relay's clock is set back"
  // The relay's pipeline.
  case familyLoaded = "the relay loads a family that it had evicted"
  case resultLookedUp = "the relay looks up the result of an old command"
  case republished = "the relay republishes an event"
  case subscriptionRefused = "the relay refuses a subscription"
  case pageContinues = "a page is not the last one"
  case stale = "the relay refuses a command as stale"
  case earlyID = "the relay refuses an id of the future"
  case tooFast = "the relay refuses a device that is too fast"
  case notEnrolled = "the relay refuses a removed device"
  // Devices.
  case deviceLosesPower = "a device loses power"
  case deviceCrashesInTurn = "a device crashes between two effects"
  case deviceWriteFails = "a device's disk is full, or fails to write or to sync"
  case deviceReadFails = "a device's disk fails to read"
  case deviceReset = "a device starts with an empty disk"
  case deviceClockSetBack = "a device's clock is set back"
  case deviceStartsFromSnapshot = "a device starts from its snapshot"
  case snapshotOfRunningDevice = "a running device makes a snapshot"
  case historyMoved = "a device's history leaves its memory"
  case outboxRestored = "a device starts with commands in its outbox"
  case presenceAnnounced = "a device announces its presence"
  case subscribedAgain = "a device repeats its subscriptions"
  case keysShared = "a device shares keys"
  case contentWaits = "a device cannot open a content yet"
  case complained = "a device complains about a key"
  case shutOut = "a device learns that it was removed"
  case webReported = "a device knows of a child's use of the web"
  // Apps.
  case appLaunched = "a device launches an app"
  case appReset = "an app starts from the full set"
  case activityEnded = "an app handles the end of an activity"
}

extension World {
  /// Records that the run has reached the path.
  func reach(_ probe: Probe) { probes.insert(probe) }

  /// Records what the relay's process has done until now.
  func probeRelay() {
    guard let counters = relay.process?.pipeline.counters else { return }
    // Each process loads each family once.
    if counters.familyLoads > scenario.families { reach(.familyLoaded) }
    if counters.resultLookups > 0 { reach(.resultLookedUp) }
    if counters.republished > 0 { reach(.republished) }
  }

  func probe(_ reply: Reply) {
    switch reply {
    case .page(_, _, true): reach(.pageContinues)
    case .refused(_, let problem), .failed(let problem):
      switch problem.code {
      case Problem.stale.code: reach(.stale)
      case Problem.earlyID().code: reach(.earlyID)
      case Problem.tooFast(retryAfter: .zero).code: reach(.tooFast)
      case Problem.notEnrolled.code: reach(.notEnrolled)
      default: break
      }
    default: break
    }
  }

  func probe(_ request: Request) {
    switch request {
    case .present, .ping: reach(.presenceAnnounced)
    case .command(_, .shareKeys, _): reach(.keysShared)
    case .command(_, .complain, _): reach(.complained)
    default: break
    }
  }

  func probe(_ effect: DeviceEffect) {
    switch effect {
    case .launch: reach(.appLaunched)
    case .app(_, .reset): reach(.appReset)
    case .notify(.unopened): reach(.contentWaits)
    case .notify(.shutOut): reach(.shutOut)
    default: break
    }
  }
}
