import ArgumentParser
import DeclaredAgeRange
import PermissionKit

/// Photo sharing, for people with a declared age of 16 or more.
struct PhotoSharing {
  private(set) var isEnabled = false
  /// Whether new people need an approval: always, except for minors whose limits are off.
  private(set) var isAskingNeeded = true
  private(set) var line = ""

  mutating func requestAgeRange() async {
    do {
      switch try await AgeRangeService.shared.requestAgeRange(ageGates: 13, 16, in: Window.photos) {
      case .sharing(let range):
        if let lowerBound = range.lowerBound, lowerBound >= 16 { isEnabled = true }
        // Controls are shared for minors only, whose range has an upper bound.
        if range.upperBound != nil {
          isAskingNeeded = range.activeParentalControls.contains(.communicationLimits)
        }
        let ages =
          switch (range.lowerBound, range.upperBound) {
          case (let lower?, let upper?): "\(lower) to \(upper)"
          case (nil, let upper?): "up to \(upper)"
          case (let lower?, nil): "\(lower) or older"
          case (nil, nil): "any age"
          }
        let declaration = range.ageRangeDeclaration?.rawValue ?? "undeclared"
        line = "age range \(ages), \(declaration)"
      case .declinedSharing: line = "age range not shared"
      }
    } catch AgeRangeService.Error.invalidRequest {
      line = "age range: invalid request"
    } catch AgeRangeService.Error.notAvailable {
      line = "age range: not available"
    } catch AgeRangeService.Error.declinedOnboarding, AgeRangeService.Error.invalidAccount {
      line = "age range: the account is not set up"
    } catch {
      line = "age range: \(error)"
    }
  }
}

struct Photos: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show whether photo sharing is on, which needs an age of 16 or more.")

  func run() async throws {
    var photos = PhotoSharing()
    await photos.requestAgeRange()
    print(photos.line)
    print("photo sharing is \(photos.isEnabled ? "on" : "off")")
  }
}
