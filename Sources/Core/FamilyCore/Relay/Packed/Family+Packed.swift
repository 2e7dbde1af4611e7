import FamilyModel

extension RelayMachine.Family: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(state)
    packer.add(readers)
    packer.add(allowances)
    packer.add(refusals)
    packer.add(used)
    packer.add(isWatched)
    packer.add(recalled)
    packer.add(snapshotSeq)
  }

  init(_ packed: inout Unpacker) {
    self.init(
      state: packed.value(), readers: packed.value(), allowances: packed.value(),
      refusals: packed.value(), used: packed.value(), isWatched: packed.isSo(),
      recalled: packed.value(), snapshotSeq: packed.value())
  }
}

extension RelayMachine.Recalled: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(id)
    packer.add(seq)
  }

  init(_ packed: inout Unpacker) {
    id = packed.value()
    seq = packed.value()
  }
}
