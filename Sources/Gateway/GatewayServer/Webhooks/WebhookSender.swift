package import FamilyModel
package import GatewayModel
package import Logging
package import SQLiteStore
import RelayStore
import ServiceLifecycle

/// Posts the events of apps to their webhooks: one task for each app, one event at a time.
///
/// The store has the position of each webhook. An event is sent again until the store has its
/// delivery, so a receiver may get an event twice, and never misses one.
package final class WebhookSender: Service, Sendable {
  /// An app's webhook.
  package struct Webhook: Sendable {
    let app: String
    let url: String
    let secret: WebhookSecret

    /// - Parameter url: The URL as the app's manifest spells it.
    package init(app: String, url: String, secret: WebhookSecret) {
      self.app = app
      self.url = url
      self.secret = secret
    }
  }

  /// The wall clock and the sleep of the sender; tests replace both.
  package struct Time: Sendable {
    let now: @Sendable () -> Instant
    let pollInterval: Milliseconds
    let sleep: @Sendable (Milliseconds) async throws -> Void

    package init(
      now: @escaping @Sendable () -> Instant,
      pollInterval: Milliseconds = WebhookSchedule.pollInterval,
      sleep: @escaping @Sendable (Milliseconds) async throws -> Void = {
        try await Task.sleep(for: .milliseconds($0.count))
      }
    ) {
      self.now = now
      self.pollInterval = pollInterval
      self.sleep = sleep
    }
  }

  private let store: SQLiteGatewayStore
  private let webhooks: [Webhook]
  private let allowed: Set<AllowedOrigin>
  private let authorities: WebhookAuthorities
  private let timeLimit: Milliseconds
  private let time: Time
  private let logger: Logger
  private let wakeUps: [String: WakeUp]

  /// - Parameters:
  ///   - webhooks: At most one for each app.
  ///   - allowed: The origins to which the operator allows requests.
  ///   - authorities: The certificates that servers may have beside those of the system.
  ///   - timeLimit: The longest time of one attempt.
  package init(
    store: SQLiteGatewayStore, webhooks: [Webhook], allowed: [AllowedOrigin],
    authorities: WebhookAuthorities = .init(), timeLimit: Milliseconds = WebhookSchedule.timeLimit,
    time: Time, logger: Logger
  ) {
    self.store = store
    self.webhooks = webhooks
    self.allowed = Set(allowed)
    self.authorities = authorities
    self.timeLimit = timeLimit
    self.time = time
    self.logger = logger
    wakeUps = Dictionary(webhooks.map { ($0.app, WakeUp()) }) { first, _ in first }
  }

  /// Reads the app's queue now, after the gateway appended an event.
  package func wake(app: String) { wakeUps[app]?.signal() }

  /// Sends until the task is cancelled or the program shuts down.
  package func run() async throws {
    guard !webhooks.isEmpty else { return try await gracefulShutdown() }
    let client = WebhookClient(timeLimit: timeLimit, authorities: authorities)
    await cancelWhenGracefulShutdown {
      await withDiscardingTaskGroup { group in
        for webhook in self.webhooks {
          group.addTask { await self.send(webhook, client) }
        }
      }
    }
    try await client.shutDown()
  }

  private func send(_ webhook: Webhook, _ client: WebhookClient) async {
    var isRefusalLogged = false
    while !Task.isCancelled {
      guard let delivery = next(of: webhook.app) else {
        await pause(webhook.app, time.pollInterval)
        continue
      }
      guard let url = WebhookURL(webhook.url), allowed.contains(url.origin) else {
        if delivery.reason != webhook.refusal { hold(delivery, webhook, log: !isRefusalLogged) }
        isRefusalLogged = true
        await pause(webhook.app, time.pollInterval)
        continue
      }
      let now = time.now()
      guard WebhookSchedule.isDue(delivery.due, now: now) else {
        await pause(webhook.app, min(delivery.due - now, time.pollInterval))
        continue
      }
      guard let outcome = await attempt(delivery, to: url, webhook.secret, client) else { return }
      await record(outcome, of: delivery)
    }
  }

  private func pause(_ app: String, _ duration: Milliseconds) async {
    await wakeUps[app]?.wait { try await self.time.sleep(duration) }
  }
}

extension WebhookSender.Webhook {
  /// The reason why the gateway sends nothing to the URL that the operator has not allowed.
  fileprivate var refusal: String {
    WebhookURL(url).map { "the operator has not allowed \($0.origin)" }
      ?? "the manifest's webhook is no http or https URL"
  }
}

// MARK: Attempts

extension WebhookSender {
  private func attempt(
    _ delivery: SQLiteGatewayStore.Delivery, to url: WebhookURL, _ secret: WebhookSecret,
    _ client: WebhookClient
  ) async -> WebhookOutcome? {
    let event = delivery.event
    let body = GatewayEvent.json(event)
    let id = WebhookSignature.id(store: store.id, app: event.app, number: event.number)
    let signature = WebhookSignature(id: id, now: time.now(), body: body, secret: secret)
    return await client.post(body, to: url, signature: signature)
  }

  /// Makes the outcome durable. The sender retries a failed store before it sends anything, because
  /// a full disk would otherwise repeat the event without an end.
  private func record(_ outcome: WebhookOutcome, of delivery: SQLiteGatewayStore.Delivery) async {
    let now = time.now()
    let verdict = WebhookSchedule.verdict(
      on: outcome, failures: delivery.failures, isRetried: delivery.isRetried, now: now)
    log(verdict, delivery)
    while true {
      do {
        switch verdict {
        case .delivered: try store.recordDelivered(delivery)
        case .retry(let next, let reason):
          try store.recordFailure(delivery, nextAttempt: next, reason: reason)
        case .dead(let reason): try store.recordDead(delivery, at: now, reason: reason)
        }
        return
      } catch {
        logger.error("the store refused the outcome of a webhook", metadata: ["error": "\(error)"])
      }
      await pause(delivery.event.app, time.pollInterval)
      if Task.isCancelled { return }
    }
  }

  /// Records the reason why the queue waits. The wait is no attempt.
  private func hold(_ delivery: SQLiteGatewayStore.Delivery, _ webhook: Webhook, log: Bool) {
    if log {
      logger.error("a webhook waits: \(webhook.refusal)", metadata: ["app": "\(webhook.app)"])
    }
    do { try store.recordWait(delivery, reason: webhook.refusal) } catch {
      logger.error("the store refused a webhook's reason", metadata: ["error": "\(error)"])
    }
  }

  /// The next delivery of the app; `nil` without one, or if the store fails.
  private func next(of app: String) -> SQLiteGatewayStore.Delivery? {
    do { return try store.nextDelivery(of: app) } catch {
      logger.error("cannot read the webhooks of an app", metadata: ["error": "\(error)"])
      return nil
    }
  }

  private func log(_ verdict: WebhookVerdict, _ delivery: SQLiteGatewayStore.Delivery) {
    let metadata: Logger.Metadata = [
      "app": "\(delivery.event.app)", "event": "\(delivery.event.number)",
    ]
    switch verdict {
    case .delivered: logger.debug("delivered a webhook", metadata: metadata)
    case .retry(_, let reason):
      logger.warning("a webhook failed: \(reason)", metadata: metadata)
    case .dead(let reason):
      logger.error("a webhook is a dead letter: \(reason)", metadata: metadata)
    }
  }
}
