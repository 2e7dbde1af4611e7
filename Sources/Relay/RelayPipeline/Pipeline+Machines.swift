package import FamilyCore

/// Access to the machines, for simulators.
extension Pipeline {
  /// Runs `body` with the machine of each shard.
  ///
  /// Precondition: everything is sent.
  package func forEachMachine(_ body: (inout RelayMachine) -> Void) {
    shards.whileAtRest { access in access.forEachShard { body(&$0.machine) } }
  }

  /// Forgets the cursors that wait, as a new process does.
  package func forgetCursors() {
    let count = shards.workers.count
    shards.whileAtRest { access in
      access.forEachShard { $0.cursors = CursorWriteBehind(shards: count) }
    }
  }
}
