import ArgumentParser
import DeclaredAgeRange
import PermissionKit

/// Photo sharing: for people of 16 or more, as the app learns it from the system.
struct PhotoSharing {
  private(set) var isEnabled = false
  /// Whether new people have to be approved: unless the system says that limits are off.
  private(set) var isAskingNeeded = true
  private(set) var line = ""

  mutating func requestAgeRange() async {
    do {
      switch try await AgeRangeService.shared.requestAgeRange(ageGates: 13, 16, in: Terminal()) {
      case .sharing(let range):
        if let lowerBound = range.lowerBound, lowerBound >= 16 { isEnabled = true }
        // Controls are told of people below the age of majority.
        if range.upperBound != nil {
          isAskingNeeded = range.activeParentalControls.contains(.communicationLimits)
        }
        let lower = range.lowerBound.map { "\($0)" } ?? "nil"
        let upper = range.upperBound.map { "\($0)" } ?? "nil"
        let declared = range.ageRangeDeclaration?.rawValue ?? "not told how"
        line = "age range \(lower)…\(upper), \(declared)"
      case .declinedSharing: line = "age range not shared"
      }
    } catch AgeRangeService.Error.invalidRequest {
      line = "age range: invalid request"
    } catch AgeRangeService.Error.notAvailable {
      line = "age range: not available"
    } catch {
      line = "age range: \(error)"
    }
  }
}

struct Photos: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Open the photos: sharing them is for people of 16 or more.")

  func run() async throws {
    var photos = PhotoSharing()
    await photos.requestAgeRange()
    print(photos.line)
    print("photo sharing is \(photos.isEnabled ? "on" : "off")")
  }
}
