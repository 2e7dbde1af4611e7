public import FamilyModel
public import Foundation

extension AppManifest {
  /// The members of the manifest file that an app ships.
  private struct File: Decodable {
    var usesDeclaredAgeRange: Bool?
    var ageRating: UInt8?
  }

  /// An error in a manifest.
  public struct Failure: Error, CustomStringConvertible {
    /// The error and its remedy, for people.
    public let description: String
  }

  /// Reads an app's manifest: `{"usesDeclaredAgeRange": true, "ageRating": 9}`. An absent member is
  /// not declared.
  ///
  /// - Throws: `Failure` if the file is missing or invalid, or the rating is not 4, 9, 13, 16 or
  ///   18.
  public init(file: URL) throws {
    guard let data = try? Data(contentsOf: file) else {
      throw Failure(description: "Cannot read the manifest \(file.path).")
    }
    do {
      let file = try JSONDecoder().decode(File.self, from: data)
      let rating = file.ageRating.map { AgeRating(rawValue: $0) }
      if case .some(nil) = rating {
        throw Failure(description: "The age rating must be 4, 9, 13, 16 or 18.")
      }
      self.init(
        usesDeclaredAgeRange: file.usesDeclaredAgeRange ?? false, ageRating: rating ?? nil)
    } catch let error as DecodingError {
      throw Failure(description: "\(file.path) is not a valid manifest: \(error).")
    }
  }
}
