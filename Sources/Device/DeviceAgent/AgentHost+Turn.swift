import DeviceTurn
import FamilyCore
import FamilyModel
import RelayStore
import ZeroMQ

extension AgentHost {
  /// Runs a turn of the devices: commits each batch, and carries out its effects.
  ///
  /// - Returns: When to call the method again.
  func turn() -> MonotonicInstant? {
    host.beginTurn()
    while let batch = host.nextBatch() {
      commit(batch)
      for effect in batch.effects { carryOut(effect) }
    }
    moveRestoredHistory()
    if isStatusStale { onChange?() }
    writeStatus(.now)
    guarded { for connection in connections.values { try connection.reconnectIfStalled() } }
    let status = isStatusStale ? statusWritten + Self.statusInterval : nil
    return (connections.values.map(\.deadline) + [host.deadline, status]).compactMap { $0 }.min()
  }

  /// Commits the batch's changes in one transaction.
  func commit(_ batch: HostBatch) {
    let changes =
      batch.records.flatMap { device, changes in
        changes.map { Change($0, under: device.recordKeyPrefix) }
      } + batch.passes.map { Change(key: $0.device.passKey, value: $0.pass) }
    guarded { if !changes.isEmpty { try self.store.apply(changes) } }
    for (device, changes) in batch.records {
      observer?.madeDurable(changes, on: device)
      // Apps in this process are simulated, in numbers.
      if localApps == nil { reportResponses(changes, on: device) }
    }
  }
}
