import FamilyModel

extension Account {
  /// Whether the text has the form of ISO 3166-1 alpha-2 (`FR`) or ISO 3166-2 (`US-TX`).
  static func isRegion(_ text: String) -> Bool {
    text.wholeMatch(of: /[A-Z]{2}(-[A-Z0-9]{1,3})?/) != nil
  }
}
