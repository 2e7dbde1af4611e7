// App code as a developer writes it for Apple's DeclaredAgeRange, without views.
import DeclaredAgeRange
import PermissionKit

/// Photo sharing of the Landmarks app, for people of 16 or more.
final class PhotoSharing {
  private(set) var isEnabled = false
  private(set) var isAskingNeeded = true
  private(set) var problem: String?

  /// Requests the age range. The view calls this method when it appears.
  func requestAgeRange(_ requestAgeRange: DeclaredAgeRangeAction = .init()) async {
    do {
      switch try await requestAgeRange(ageGates: 13, 16) {
      case .sharing(let range):
        isEnabled = (range.lowerBound ?? 0) >= 16
        isAskingNeeded = range.activeParentalControls.contains(.communicationLimits)
      case .declinedSharing: isEnabled = false
      }
    } catch AgeRangeService.Error.invalidRequest {
      problem = "a mistake of ours"
    } catch AgeRangeService.Error.notAvailable {
      problem = "not on this device"
    } catch {
      problem = "\(error)"
    }
  }
}
