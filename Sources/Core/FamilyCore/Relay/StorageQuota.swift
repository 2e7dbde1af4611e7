import FamilyModel

/// The bytes of events that a family and each of its devices may have in the relay's store.
///
/// At the quota the relay refuses commands as `quotaReached`, and reads continue. Devices send notes
/// without a person's action, such as reports of the use of the web: they get half of a quota, so that
/// questions have the rest. The last part of a quota is reserved for commands that restrict or protect:
/// withdrawals, limits, the passcode, and shares of content keys. Commands that end work are never
/// refused, because their number is bounded by the work: answers, cancellations and removals.
///
/// Other families are not affected: each family has its own quota.
public struct StorageQuota: Hashable, Sendable {
  /// Bytes of a family's events.
  public var family = 256 << 20
  /// Bytes of the events of one device. A removal of the device ends its count, not the family's.
  public var device = 64 << 20

  /// The part of a quota that is reserved: one of this many.
  static let reserveDivisor = 16
  /// The part of a quota that no note of a device gets: one of this many.
  static let notesDivisor = 2

  /// Bytes of a family's events up to which every further event fits.
  var alwaysFree: Int {
    let least = min(family, device)
    return least - least / Self.notesDivisor - 2 * Limits.frameBytes
  }

  /// The default quotas.
  public init() {}
}

/// The bytes of a family's events in the store, and those of each present device.
struct StorageUse: Hashable, Sendable {
  private(set) var family = 0
  private(set) var devices = SmallMap<DeviceID, UInt64>()

  /// Adds an event. Events of the administrator and of joining devices count for the family only.
  mutating func add(_ event: Event) {
    let bytes = event.storedBytes
    family += bytes
    guard event.device.rawValue != 0 else { return }
    devices[event.device, default: 0] += UInt64(bytes)
  }

  /// Forgets the counts of removed devices.
  mutating func keepDevices(of roster: Roster) {
    guard devices.entries.contains(where: { roster.device($0.key) == nil }) else { return }
    devices = SmallMap(sorted: devices.entries.filter { roster.device($0.key) != nil })
  }

  /// Bytes of the device's events.
  func bytes(of device: DeviceID) -> Int { Int(clamping: devices[device] ?? 0) }
}

extension FamilyState {
  /// How much of a quota an event may use.
  private enum StorageClass { case note, ordinary, reserved, unlimited }

  /// Refuses an event that the quota has no room for.
  ///
  /// - Throws: `quotaReached`.
  func checkStorage(for event: Event, _ quota: StorageQuota) throws(Problem) {
    // No event has more bytes, and no device more than its family: most families need no count.
    guard storage.family > quota.alwaysFree else { return }
    let bytes = event.storedBytes
    let family = storage.family + bytes
    let device = event.device.rawValue == 0 ? 0 : storage.bytes(of: event.device) + bytes
    func fits(in divisor: Int?) -> Bool {
      family <= quota.family - (divisor.map { quota.family / $0 } ?? 0)
        && device <= quota.device - (divisor.map { quota.device / $0 } ?? 0)
    }
    let isAccepted =
      switch storageClass(of: event.body) {
      case .unlimited: true
      case .reserved: fits(in: nil)
      case .ordinary: fits(in: StorageQuota.reserveDivisor)
      case .note: fits(in: StorageQuota.notesDivisor)
      }
    guard isAccepted else { throw .quotaReached }
  }

  private func storageClass(of body: Event.Body) -> StorageClass {
    switch body {
    case .cancelled, .decided: .unlimited
    case .rosterChanged(let next) where next != roster && next.isPart(of: roster): .unlimited
    case .withdrawn, .limitsChanged, .passcodeChanged, .keysShared, .complained, .beat: .reserved
    case .rosterChanged, .accountChanged, .asked, .reminded, .posted, .contactChanged,
      .answeredInPerson, .invited, .joinRequested, .ageSet, .settingsChanged, .opaque:
      .ordinary
    case .ageNoted: .note
    }
  }
}

extension StorageUse: Packable {
  func pack(_ packer: inout Packer) {
    packer.add(UInt64(family))
    packer.add(devices)
  }

  init(_ packed: inout Unpacker) {
    family = Int(clamping: packed.number())
    devices = packed.value()
  }
}
