import FamilyModel
import History

/// Checks that devices give back what a relay lost with a restored copy of its store.
///
/// Each text whose device had read it before the restoration is in the relay's log at the end.
struct GivenBack: Checker {
  /// A text that the relay acknowledged and then lost.
  struct Text: Hashable, Sendable {
    var author: DeviceAddress
    var command: CommandID
  }

  let name = "devices give back what the relay lost"
  let texts: [Text]

  func check(_ history: History) -> Verdict {
    var reset: Set<DeviceAddress> = []
    var stored: Set<Text> = []
    var isRead = false
    for fact in history.entries.map(\.fact) {
      switch fact {
      case .lostState(let device): reset.insert(device)
      case .stored(let family, let event):
        stored.insert(
          Text(
            author: DeviceAddress(family: family, device: event.device), command: event.command))
      case .storeRead: isRead = true
      default: break
      }
    }
    guard isRead else { return .unknown("the store was not read at the end") }
    // A device that lost its store has nothing to give back.
    let missing = texts.filter { !reset.contains($0.author) && !stored.contains($0) }
    guard let first = missing.first else { return .ok }
    return .violated(
      "\(missing.count) of \(texts.count) lost texts are gone, one of device "
        + "\(first.author.device.rawValue) of family \(first.author.family.rawValue)", at: nil)
  }

  /// The checkers of a run.
  ///
  /// A relay with a restored copy loses acknowledged events and shows other events under their
  /// numbers. Devices keep some lost statements, and do not give back what has expired. The
  /// checkers that compare devices with the log therefore do not apply, as in the simulator.
  static func checkers(_ log: RunLog) -> [any Checker] {
    guard log.hasRestoredCopy else { return History.checkers + [OneTruth()] }
    return [RightfulEvents(), Converges(), GivenBack(texts: log.lostTexts)]
  }
}
