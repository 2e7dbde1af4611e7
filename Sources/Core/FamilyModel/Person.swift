/// A person's role in the family.
public enum Role: UInt8, Sendable {
  /// The guardian whose key signed the first roster.
  case organizer = 1
  /// A person who may answer questions, manage children and change the roster.
  case guardian = 2
  /// A person whose contacts and apps guardians approve.
  case child = 3
  /// A member who is neither a child nor a guardian.
  case adult = 4

  /// Whether the role may answer questions: organizer or guardian.
  public var isGuardian: Bool { self == .organizer || self == .guardian }
}

/// A member of a family.
public struct Person: Hashable, Sendable {
  /// Unique in the family; not zero.
  public var id: PersonID
  /// The person's role.
  public var role: Role
  /// The name that the family's members see, up to `Limits.titleBytes` bytes of UTF-8.
  public var displayName: String
  /// Creates a member.
  public init(id: PersonID, role: Role, displayName: String) {
    self.id = id
    self.role = role
    self.displayName = displayName
  }
}

/// A person without the name. The relay uses this type in checks because a copy counts no
/// references.
package struct Member: Hashable, Sendable {
  /// As in ``Person``.
  package var id: PersonID
  /// The person's role.
  package var role: Role

  package init(id: PersonID, role: Role) {
    self.id = id
    self.role = role
  }

  /// Copies the person without the name.
  package init(_ person: Person) { self.init(id: person.id, role: person.role) }
}
