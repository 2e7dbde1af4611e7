import FamilyModel

/// The pictures that the app's code wants checked, in order. The first ones are in flight.
struct PictureQueue: Sendable {
  private var pictures: [(number: UInt64, picture: Avatar)] = []

  var isEmpty: Bool { pictures.isEmpty }

  /// The requests of the pictures in flight.
  var inFlight: [AppRequest] {
    pictures.prefix(Limits.picturesInFlight).map { .analyze($0.number, $0.picture) }
  }

  /// Appends a picture.
  ///
  /// - Returns: The requests that are in flight now and were not before.
  /// - Throws: `tooManyPictures` if the queue is full.
  mutating func add(_ number: UInt64, _ picture: Avatar) throws(Problem) -> [AppRequest] {
    guard pictures.count < Limits.waitingPictures else { throw .tooManyPictures }
    pictures.append((number, picture))
    return pictures.count <= Limits.picturesInFlight ? [.analyze(number, picture)] : []
  }

  /// Removes a picture.
  ///
  /// - Returns: The requests that are in flight now and were not before; `nil` for an unknown number.
  mutating func remove(_ number: UInt64) -> [AppRequest]? {
    guard let index = pictures.firstIndex(where: { $0.number == number }) else { return nil }
    pictures.remove(at: index)
    return index < Limits.picturesInFlight
      ? Array(inFlight.dropFirst(Limits.picturesInFlight - 1)) : []
  }

  /// Removes all pictures; returns their numbers, in order.
  mutating func removeAll() -> [UInt64] {
    defer { pictures = [] }
    return pictures.map(\.number)
  }
}
