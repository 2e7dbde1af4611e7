import FamilyModel

extension RelayMachine.Family: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(state)
    packer.add(deliveries)
    packer.add(rateLimits)
    packer.add(refusals)
    packer.add(lastUsed)
    packer.add(isCheckScheduled)
    packer.add(storedResult)
    packer.add(passcodeLock)
    packer.add(snapshotSeq)
  }

  init(_ packed: inout Unpacker) {
    self.init(
      state: packed.value(), deliveries: packed.value(), rateLimits: packed.value(),
      refusals: packed.value(), lastUsed: packed.value(),
      isCheckScheduled: packed.bool(),
      storedResult: packed.value(), passcodeLock: packed.value(), snapshotSeq: packed.value())
  }
}

extension RelayMachine.StoredResult: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(id)
    packer.add(device)
    packer.add(seq)
    packer.add(outline)
  }

  init(_ packed: inout Unpacker) {
    id = packed.value()
    device = packed.value()
    seq = packed.value()
    outline = packed.value()
  }
}
