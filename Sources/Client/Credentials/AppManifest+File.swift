public import FamilyModel
public import Foundation

extension AppManifest {
  /// What the file holds that an app comes with.
  private struct File: Decodable {
    var usesDeclaredAgeRange: Bool?
    var ageRating: UInt8?
  }

  /// What is wrong with a manifest.
  public struct Failure: Error, CustomStringConvertible {
    /// What is wrong, and what to do.
    public let description: String
  }

  /// Reads an app's manifest: `{"usesDeclaredAgeRange": true, "ageRating": 9}`. What it leaves out is not
  /// declared.
  ///
  /// - Throws: `Failure`, also for a rating that is none.
  public init(file: URL) throws {
    guard let data = try? Data(contentsOf: file) else {
      throw Failure(description: "Cannot read the manifest \(file.path).")
    }
    do {
      let file = try JSONDecoder().decode(File.self, from: data)
      let rating = file.ageRating.map { AgeRating(rawValue: $0) }
      if case .some(nil) = rating {
        throw Failure(description: "An age rating is 4, 9, 13, 16 or 18.")
      }
      self.init(
        usesDeclaredAgeRange: file.usesDeclaredAgeRange ?? false, ageRating: rating ?? nil)
    } catch let error as DecodingError {
      throw Failure(description: "\(file.path) is no manifest: \(error).")
    }
  }
}
