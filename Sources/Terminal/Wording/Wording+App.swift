extension Wording {
  /// The characters of an app's name in a text. Longer names are shortened, so that no name can
  /// push the identifier away.
  private static let nameLength = 40

  /// The app as guardians read it: the name and the identifier; without a visible name, the
  /// identifier.
  ///
  /// Any app may take any name, and only the identifier is unique.
  public func app(_ identifier: String, named name: String?) -> String {
    guard let name, name.isVisible else { return identifier }
    return text("person.withHandle", [self.name(identifier, name), identifier])
  }

  /// The app's name, sanitized and shortened; without a visible name, the identifier.
  public func name(_ identifier: String, _ name: String) -> String {
    guard name.isVisible else { return identifier }
    let name = name.sanitized
    return name.count <= Self.nameLength ? name : name.prefix(Self.nameLength - 1) + "…"
  }
}
