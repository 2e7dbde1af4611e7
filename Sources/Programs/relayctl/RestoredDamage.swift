import FamilyModel
import RelayStore
import SQLiteStore

/// The damage of a restored store, because the relay's store had it.
enum RestoredDamage {
  /// The relay refuses these families.
  case families(StoreDamage)
  /// No family can be proven to own this damage. The relay does not start with the store.
  case unproven(StoreError)

  /// Checks each record of a store, and makes its indexes again.
  ///
  /// - Returns: `nil` for a whole store.
  init?(of store: SQLiteEventStore) throws {
    do throws(StoreError) {
      let damage = try store.findDamage(whole: .max)
      if damage.isIndexDamaged { try store.rebuildIndex() }
      if damage.families.isEmpty { return nil }
      self = .families(damage)
    } catch {
      guard error.isDamage else { throw error }
      self = .unproven(error)
    }
  }

  /// The damage and the next step, for people.
  var text: String {
    switch self {
    case .families(let damage):
      let names = damage.families.keys.sorted().map { family in
        let events = damage.events[family].map { " (events \($0.lowerBound)-\($0.upperBound))" }
        return "\(family.rawValue)\(events ?? "")"
      }
      return "Records of these families are damaged: \(names.joined(separator: ", ")). "
        + "The relay refuses them, and `relayctl export` saves what is whole."
    case .unproven(let error):
      return "Damaged: \(error.detail). No family can be proven to own the damage, so no relay "
        + "starts with this store. `relayctl export` saves what is whole."
    }
  }
}
