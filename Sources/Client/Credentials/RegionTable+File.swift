public import FamilyModel
import Foundation

/// A table of regions that cannot be used, with its file, line and reason.
public struct RegionFileError: Error, CustomStringConvertible {
  /// The explanation for a person.
  public let description: String
}

extension RegionTable {
  /// Reads an operator's table; without a path, the built-in one.
  ///
  /// - Throws: `RegionFileError` with the file, the line and the reason.
  public init(file path: String?) throws {
    guard let path else {
      self = .standard
      return
    }
    guard let handle = FileHandle(forReadingAtPath: path),
      let bytes = try? handle.read(upToCount: Limits.regionTableBytes + 1)
    else { throw RegionFileError(description: "Cannot read the table of regions '\(path)'.") }
    do throws(Mistake) { try self.init(csv: [UInt8](bytes)) } catch {
      throw RegionFileError(description: "The table of regions '\(path)', \(error).")
    }
  }
}
