import ContentCheck
import FamilyCore
import FamilyModel

extension AgentHost {
  /// Has the worker check a picture for an app. The checker runs on threads of its own, and answers within
  /// ``ContentLimits/timeout``. Nothing of the picture reaches the store, the trace or the log.
  func check(_ picture: Avatar, _ number: UInt64, on address: DeviceAddress) {
    guard let checker = configuration.checker else {
      return act(
        ChildMachine.Input.pictureChecked(number, .failed(.noContentWorker)), on: address)
    }
    Task {
      let verdict = await checker.verdict(on: picture)
      act(ChildMachine.Input.pictureChecked(number, PictureAnalysis(verdict)), on: address)
    }
  }
}

extension PictureAnalysis {
  /// A missing verdict never counts as a clean one.
  init(_ verdict: ContentVerdict) {
    self =
      switch verdict {
      case .clean: .checked(isSensitive: false)
      case .sensitive: .checked(isSensitive: true)
      case .unknown: .failed(.noVerdict)
      }
  }
}
