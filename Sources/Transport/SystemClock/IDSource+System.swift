public import FamilyModel

extension IDSource {
  /// A source of ids from the system's generator, for every program that talks to a relay.
  public static var system: IDSource {
    IDSource {
      var generator = SystemRandomNumberGenerator()
      return generator.next()
    }
  }
}
