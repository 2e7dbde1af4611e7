import FamilyModel

extension Limits {
  /// Whether recent items join the packed ones. This writes all packed ones again, so that a longer
  /// history waits for more recent ones.
  static func mustPack(_ recent: Int, beside packed: Int) -> Bool {
    recent >= recentHistory && recent > packed / packedShare
  }
}
