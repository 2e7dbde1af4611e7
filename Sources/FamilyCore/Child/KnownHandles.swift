import FamilyModel

/// The handles that are known for a child (K1): approved by a guardian, or on the list of contacts.
///
/// Handles are compared in canonical form. Custom names that were approved in one app are known in that
/// app only; numbers and addresses are known everywhere (K5).
struct KnownHandles: Sendable {
  private var contacts: Set<Handle> = []
  private var approved: Set<Handle> = []
  private var approvedIn: [AppID: Set<Handle>] = [:]

  func contains(_ handle: Handle, in app: AppID) -> Bool {
    let handle = handle.canonical
    return contacts.contains(handle) || approved.contains(handle)
      || approvedIn[app, default: []].contains(handle)
  }

  /// All that are known in the app, in order.
  func all(in app: AppID) -> [Handle] {
    contacts.union(approved).union(approvedIn[app, default: []]).sorted()
  }

  mutating func approve(_ handles: [Handle], in app: AppID) {
    for handle in handles.map(\.canonical) {
      if handle.kind == .custom {
        approvedIn[app, default: []].insert(handle)
      } else {
        approved.insert(handle)
      }
    }
  }

  mutating func setContact(_ handle: Handle, known: Bool) {
    if known { contacts.insert(handle.canonical) } else { contacts.remove(handle.canonical) }
  }
}
