import FamilyCore
import FamilyModel
import History
import RelayStore
import RelayWire

/// The histories of a dishonest relay.
extension World {
  /// Whether the relay lies now.
  var isLying: Bool {
    guard let dishonest else { return false }
    return !hasHealed && now >= dishonest.begins
  }

  /// Opens the branch that the device reads.
  ///
  /// Precondition: everything is sent.
  ///
  /// - Returns: `false` if the relay crashed.
  func openBranch(of device: Int) -> Bool {
    guard isLying, let dishonest else { return relay.isRunning }
    return open(branch: dishonest.shown[device] ?? 0)
  }

  private func open(branch: Int) -> Bool {
    guard relay.isRunning else { return false }
    guard let current = dishonest?.active, branch != current else { return true }
    saveBranch()
    dishonest!.active = branch
    relayMachine = dishonest!.branches[branch].machine
    relay.disk.restore(dishonest!.branches[branch].families)
    return true
  }

  private func saveBranch() {
    relay.disk.repair()
    dishonest!.branches[dishonest!.active].machine = relayMachine
    dishonest!.branches[dishonest!.active].families = relay.disk.families
  }

  /// A new process has no family in memory, in any branch.
  func forgetBranches() {
    guard let dishonest else { return }
    for index in dishonest.branches.indices {
      self.dishonest!.branches[index].machine = relayMachine
    }
  }

  /// Copies, splits, edits or rolls back a history, or moves devices to another one.
  ///
  /// Precondition: everything is sent.
  func changeHistories(for family: FamilyID) {
    saveBranch()
    let active = dishonest!.active
    let isHonest = dishonest!.branches[active].isHonest
    let canSplit = dishonest!.lies.contains(.histories)
    switch dishonesty.below(6) {
    case 0, 1:
      guard isHonest else { return }
      if dishonest!.copies.count == DishonestRelay.maxCopies {
        dishonest!.copies.remove(at: dishonesty.below(DishonestRelay.maxCopies))
      }
      dishonest!.copies.append(relay.disk.families)
    case 2:
      guard dishonest!.lies.contains(.rollbacks), !dishonest!.copies.isEmpty else { return }
      let copy = dishonesty.pick(dishonest!.copies)
      if canSplit, dishonesty.chance(60) {
        addBranch(copy, isHonest: true, family)
      } else if isHonest {
        relay.disk.restore(copy)
        relayMachine = makeRelayMachine()
        saveBranch()
      }
    case 3: if canSplit { addBranch(relay.disk.families, isHonest: isHonest, family) }
    case 4:
      guard dishonest!.lies.contains(.edits), let stored = relay.disk.families[family] else {
        return
      }
      var families = relay.disk.families
      let log = stored.events.map { try! Event.decode($0.payload) }
      let edited = dishonest!.forger.edited(log, of: family)
      families[family] = RelayDisk.Family(
        events: edited.map { StoredEvent($0, of: family) }, cursors: stored.cursors,
        snapshots: [], passcodeLocks: stored.passcodeLocks)
      addBranch(families, isHonest: false, family)
    default: moveDevices(of: family, to: dishonesty.below(dishonest!.branches.count))
    }
  }

  /// Adds a branch, or replaces one but the first, and moves devices to it.
  private func addBranch(
    _ families: [FamilyID: RelayDisk.Family], isHonest: Bool, _ family: FamilyID
  ) {
    let branch = DishonestRelay.Branch(
      families: families, machine: makeRelayMachine(), isHonest: isHonest)
    var index = dishonest!.branches.count
    if index < DishonestRelay.maxBranches {
      dishonest!.branches.append(branch)
    } else {
      index = 1 + dishonesty.below(DishonestRelay.maxBranches - 1)
      guard index != dishonest!.active else { return }
      dishonest!.branches[index] = branch
    }
    moveDevices(of: family, to: index)
  }

  private func moveDevices(of family: FamilyID, to branch: Int) {
    for (index, device) in devices.enumerated()
    where device.address.family == family && dishonesty.chance(40) {
      dishonest!.shown[index] = branch
    }
  }

  /// Ends the dishonesty: an honest relay starts on one store that an honest relay could have.
  func endDishonesty() {
    guard dishonest != nil else { return }
    saveBranch()
    let honest = honestHistories
    let store = dishonesty.chance(40) ? honest[0] : dishonesty.pick(honest)
    endRelay(power: false)
    relay.disk.restore(store)
    record(.fault("the relay is honest from here on"))
  }

  /// The stores of a dishonest relay that an honest one could have.
  var honestHistories: [[FamilyID: RelayDisk.Family]] {
    guard let dishonest else { return [] }
    return dishonest.branches.filter(\.isHonest).map(\.families) + dishonest.copies
  }

  func makeRelayMachine() -> RelayMachine {
    Self.makeRelayMachine(resultsKept: scenario.resultsKept)
  }
}

extension StoredEvent {
  /// The stored form of an event.
  init(_ event: Event, of family: FamilyID) {
    self.init(
      family: family, seq: event.seq, audience: event.audience, device: event.device,
      command: event.command, at: event.at, payload: event.encode())
  }
}
