import RelayStore

/// A fault of a disk that lasts for a while.
enum DiskFault: CaseIterable, Sendable {
  /// No space is left. Nothing is written.
  case full
  /// Reads fail.
  case read
  /// Writes fail. Their bytes may be complete nevertheless.
  case write
  /// Syncs fail. The written bytes may be durable nevertheless.
  case sync
}

extension World {
  func setDiskFault(_ fault: DiskFault?, of process: Act.Process) {
    switch process {
    case .relay: relay.disk.fault = fault
    case .device(let index):
      devices[index].diskFault = fault
      // A device reads only when it starts.
      if fault == .read { endDevice(index, power: false) }
    case .app(let index, let app): self.app(index, app)?.diskFault = fault
    }
  }

  /// How an operation of a device's or app's disk ends.
  enum WriteOutcome {
    /// The changes are durable, and the process continues.
    case written
    /// The process ends, and the changes are durable or not.
    case failed(isWritten: Bool)
  }

  func writeOutcome(_ fault: DiskFault?) -> WriteOutcome {
    switch fault {
    case nil, .read: .written
    case .full: .failed(isWritten: false)
    case .write, .sync: .failed(isWritten: random.chance(50))
    }
  }

  /// Fails some reads while the relay's disk fails to read.
  func relayReads() throws(StoreError) {
    guard relay.disk.fault == .read, random.chance(50) else { return }
    reach(.relayReadFails)
    throw .io("read")
  }
}
