import FamilyCore
import FamilyModel
import RelayStore
import RelayWire

/// The knowledge of a dishonest relay, and the histories that it shows.
///
/// The relay has stores, requests and the public keys in rosters, and one key pair of its own. No
/// type of this folder has access to a member's vault.
///
/// *Honest* → (its beginning) *dishonest* → (healing) *honest* again.
struct DishonestRelay {
  /// A kind of lie. Each run uses some of the kinds.
  enum Lie: CaseIterable {
    /// Requests and replies are lost, late or repeated.
    case losses, delays, repetitions
    /// Commands are accepted and not stored, or refused for any reason.
    case acceptances, refusals
    /// Bytes of replies and broadcasts are flipped.
    case flips
    /// Attachments name other heads, hashes, channels and times.
    case attachments
    /// Pages and broadcasts have other events than the store.
    case events
    /// Devices read different histories.
    case histories
    /// A history goes back to an earlier copy of the store.
    case rollbacks
    /// A history is edited: events are omitted, moved, repeated, altered and forged.
    case edits
    /// Events reach devices outside of their audience or family.
    case reveals
  }

  /// A store with the machine that answers from it.
  struct Branch {
    var families: [FamilyID: RelayDisk.Family]
    var machine: RelayMachine
    /// Whether an honest relay could have this store.
    var isHonest: Bool
  }

  /// The histories that the relay shows at a time.
  static let maxBranches = 4
  /// The earlier copies of its store that the relay keeps.
  static let maxCopies = 6

  let lies: [Lie]
  let begins: Milliseconds
  var branches: [Branch]
  /// The branch that the relay's process has open; its entry in `branches` is outdated.
  var active = 0
  /// The branch that each device reads; the first one without an entry.
  var shown: [Int: Int] = [:]
  var copies: [[FamilyID: RelayDisk.Family]] = []
  var forger: Forger

  init(_ random: inout SeededRandom, until healing: Milliseconds, _ machine: RelayMachine) {
    let all = Lie.allCases.filter { _ in random.chance(50) }
    lies = all.isEmpty ? [.histories, .edits] : all
    begins = random.within(.zero...healing)
    branches = [Branch(families: [:], machine: machine, isHonest: true)]
    forger = Forger(seed: random.next())
  }

  /// Whether the relay tells this kind of lie now.
  func tells(_ lie: Lie, _ percent: Int, _ random: inout SeededRandom) -> Bool {
    lies.contains(lie) && random.chance(percent)
  }
}
