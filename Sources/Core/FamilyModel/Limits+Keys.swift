extension Limits {
  /// The number of content keys that one device may make for one audience in an epoch.
  ///
  /// - Parameters:
  ///   - began: The start of the epoch, by the relay's clock.
  ///   - time: The time of the key share, by the relay's clock. An earlier time than the start counts
  ///     as the start.
  package static func keysPerMaker(since began: Instant, at time: Instant) -> Int {
    let ages = (time - began) / contentKeyAge
    return keysPerMaker + Int(min(max(0, ages), contentKeyAges))
  }
}
