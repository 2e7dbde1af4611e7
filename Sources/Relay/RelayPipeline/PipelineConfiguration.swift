import Credentials
package import FamilyCore
import FamilyModel
import FamilyTrust
import Foundation

/// The sizes of a relay's pipeline.
public struct PipelineConfiguration: Sendable {
  /// Families in memory. Above it the least recently used families are evicted.
  public var maxFamilies = 100_000
  /// Shards that handle families in parallel, from 1 to 16.
  public var shards = min(2, max(1, ProcessInfo.processInfo.activeProcessorCount - 2))
  /// Bytes of the disk below which the relay accepts no writes; 0: it always does.
  public var reservedBytes = RelayLimits.reservedBytes
  /// Bytes of events that a family may have in the store. See `StorageQuota`.
  public var familyQuota = StorageQuota().family
  /// Bytes of events that a device may have in the store. See `StorageQuota`.
  public var deviceQuota = StorageQuota().device
  /// Bytes of memory that the process may use: see ``MemoryWatch``; 0: any number.
  public var memoryLimit = 0
  /// The bytes of memory in use; `nil` if unknown. Called about four times a second.
  public var memoryInUse: @Sendable () -> Int? = { nil }
  /// The bytes that the store's disk has left; `nil` if unknown. Called about once a second.
  public var freeBytes: @Sendable () -> Int? = { nil }
  /// See ``RelayLimits/requestsInFlight``.
  package var maxRequestsInFlight = RelayLimits.requestsInFlight
  /// See ``RelayLimits/requestsPerSlice``.
  package var requestsPerSlice = RelayLimits.requestsPerSlice
  /// See ``RelayLimits/wakeThreshold``.
  package var wakeThreshold = RelayLimits.wakeThreshold
  /// A key that every sender is taken to have, for measuring the cost of encryption only. Turns
  /// off CURVE and the sealing of broadcasts. A sender that names device 0 is the administrator.
  package var plainKey: [UInt8]?
  /// See ``RelayLimits/cachedChannels``.
  package var cachedChannels = RelayLimits.cachedChannels
  /// See ``RelayLimits/inboxes``.
  package var maxInboxes = RelayLimits.inboxes
  /// See ``RelayLimits/resultsPerFamily``.
  package var resultsPerFamily = RelayLimits.resultsPerFamily
  /// See ``Limits/pageEvents``.
  package var pageEvents = Limits.pageEvents
  /// Whether broadcasts are sealed. A simulation shows in the clear who reads what.
  package var sealsBroadcasts = true
  /// Makes the machine of one of `shards` shards.
  package var makeMachine: @Sendable (_ shards: Int) -> RelayMachine = { shards in
    RelayMachine(
      verify: PasscodeCipher.verify, digest: KeyVault.digest,
      passcodes: PasscodeCipher.evaluator,
      resultsKept: RelayLimits.resultsPerFamily,
      openFamilies: RelayLimits.unpackedFamilies / shards,
      snapshotEvery: RelayLimits.eventsPerSnapshot)
  }
  /// See ``Defects``.
  var defects = Defects()

  /// The default sizes.
  public init() {}

  #if DEBUG
    /// The configuration with a deliberate defect.
    package func with(_ defect: PipelineDefect?) -> PipelineConfiguration {
      var copy = self
      copy.defects.defect = defect
      return copy
    }
  #endif
}
