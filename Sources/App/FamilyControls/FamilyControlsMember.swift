/// The person that an app manages.
public enum FamilyControlsMember: Int, Hashable, Sendable, CaseIterable {
  /// A child of a family: a guardian authorizes the app.
  case child
  /// A person who restricts themselves. This system authorizes no app for an individual.
  case individual
}
