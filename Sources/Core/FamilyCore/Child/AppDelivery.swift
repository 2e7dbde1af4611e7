public import FamilyModel

/// The way of a device's entries to one app, for people who look for an answer.
public struct AppDelivery: Hashable, Sendable {
  /// The reason why entries wait.
  ///
  /// - `idle` → (an entry arrives) `notRegistered`, `attached` or `waiting`.
  /// - `waiting` → (the time has come) `launched` → (the app connects) `attached`.
  /// - `attached`, `launched` → (the process ends) `waiting`; → (the app acknowledges) `idle`.
  public enum State: Hashable, Sendable {
    /// The app has acknowledged every entry.
    case idle
    /// The app has never read `updates` and never asked, so that the device may not launch it.
    case notRegistered
    /// The device launches the app at this time.
    case waiting(until: Instant)
    /// The device has launched the app, which has not connected.
    case launched
    /// The app is connected and has not handled the first entry.
    case attached
  }

  /// The app.
  public var app: AppID
  /// The reason why entries wait.
  public var state: State
  /// The responses that the app has not handled, in order.
  public var responses: [Response]

  /// A response that waits.
  public struct Response: Hashable, Sendable {
    /// The position of the app entry.
    public var position: UInt64
    /// The question.
    public var question: QuestionID
  }

  /// The number of entries that the app has not acknowledged, responses included.
  public var entries: Int
  /// The number of launches without an acknowledgement since the last one.
  public var failedLaunches: Int
}

extension AppFeed {
  var delivery: AppDelivery {
    let state: AppDelivery.State =
      if entries.isEmpty {
        .idle
      } else if isAttached {
        .attached
      } else if isRunning {
        .launched
      } else if progress.registered {
        .waiting(until: notBefore)
      } else {
        .notRegistered
      }
    let responses = entries.compactMap { entry -> AppDelivery.Response? in
      guard case .response(let question, _) = entry.body else { return nil }
      return AppDelivery.Response(position: entry.position, question: question.id)
    }
    return AppDelivery(
      app: app, state: state, responses: responses, entries: entries.count,
      failedLaunches: attempts)
  }
}

extension ChildMachine {
  /// The way of the entries to each app, in the order of the apps.
  public var deliveries: [AppDelivery] { feeds.map(\.delivery) }

  /// The way of the entries to the app; `nil` if the device has no such app.
  public func delivery(to app: AppID) -> AppDelivery? {
    feeds.first { $0.app == app }?.delivery
  }
}
