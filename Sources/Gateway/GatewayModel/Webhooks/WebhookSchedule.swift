package import FamilyModel

/// The result of one attempt to post a webhook.
package enum WebhookOutcome: Hashable, Sendable {
  /// The server replied; `retryAfter` is the value of its `Retry-After` header.
  case replied(status: Int, retryAfter: String?)
  /// The attempt exceeded its time limit.
  case timedOut
  /// The attempt failed without a reply. The reason has no personal data.
  case failed(String)
}

/// The consequence of one attempt.
///
/// A delivery that waits becomes delivered, retried or dead. A dead one waits again when the
/// operator retries it. Delivered is final.
package enum WebhookVerdict: Hashable, Sendable {
  case delivered
  case retry(at: Instant, reason: String)
  case dead(reason: String)
}

/// The rules for attempts of webhooks.
package enum WebhookSchedule {
  /// The delays after the first and each later failure.
  package static let delays: [Milliseconds] = [
    .seconds(5), .seconds(30), .minutes(2), .minutes(10), .minutes(30),
    .hours(1), .hours(2), .hours(4), .hours(8), .hours(12),
  ]
  /// The attempts of one event. The event is a dead letter after the last one.
  package static let attempts = delays.count + 1
  /// The attempts of a dead letter that the operator retries. Such letters go before the queue, and
  /// must not delay it for hours.
  package static let retryAttempts = 3
  /// The longest wait for the next attempt. A longer `Retry-After` is cut to this time.
  package static let longestDelay = Milliseconds.hours(12)
  /// The longest time of one attempt, from the connection to the end of the reply.
  package static let timeLimit = Milliseconds.seconds(15)
  /// The largest part of a reply's body that is read, in bytes. The connection is closed then.
  package static let longestReply = 65_536
  /// The longest time until the gateway sends a dead letter that the operator retries.
  package static let pollInterval = Milliseconds.seconds(1)

  /// The consequence of an attempt.
  ///
  /// - Parameters:
  ///   - failures: The failed attempts before this one, of a dead letter since its retry.
  ///   - isRetried: Whether this is a dead letter that the operator retries.
  package static func verdict(
    on outcome: WebhookOutcome, failures: Int, isRetried: Bool, now: Instant
  ) -> WebhookVerdict {
    if case .replied(200...299, _) = outcome { return .delivered }
    let reason = outcome.reason
    guard failures + 1 < (isRetried ? retryAttempts : attempts) else {
      return .dead(reason: reason)
    }
    let delay = max(delays[max(failures, 0)], outcome.requestedDelay(now: now) ?? .zero)
    return .retry(at: now + min(delay, longestDelay), reason: reason)
  }

  /// Whether the attempt may begin. No attempt waits longer than ``longestDelay``, so a later
  /// moment comes from a clock that was set back.
  package static func isDue(_ due: Instant, now: Instant) -> Bool {
    due <= now || due > now + longestDelay
  }
}

extension WebhookOutcome {
  /// The failure for the operator.
  fileprivate var reason: String {
    switch self {
    case .replied(let status, _) where (300...399).contains(status):
      "redirect (status \(status)), which the gateway does not follow"
    case .replied(let status, _): "status \(status)"
    case .timedOut: "no reply within the time limit"
    case .failed(let reason): reason
    }
  }

  /// The delay that an overloaded server asks for.
  fileprivate func requestedDelay(now: Instant) -> Milliseconds? {
    guard case .replied(let status, let value?) = self, status == 429 || status == 503 else {
      return nil
    }
    return RetryAfter.delay(value, now: now)
  }
}
