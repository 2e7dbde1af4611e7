import FamilyModel
import Testing

@testable import GatewayModel

/// The pure rules of webhooks.
@Suite struct WebhookPolicyTests {
  private let now = Instant(milliseconds: 1_700_000_000_000)

  private func delay(_ outcome: WebhookOutcome, failures: Int, isRetried: Bool = false)
    -> Milliseconds?
  {
    let verdict = WebhookSchedule.verdict(
      on: outcome, failures: failures, isRetried: isRetried, now: now)
    guard case .retry(let at, _) = verdict else { return nil }
    return at - now
  }

  @Test("S1: ten delays follow failures, and the 11th failure makes a dead letter")
  func schedule() {
    let seconds = (0...10).map { delay(.timedOut, failures: $0).map { $0.count / 1_000 } }
    #expect(
      seconds == [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800, 43_200, nil])
    #expect(
      WebhookSchedule.verdict(on: .failed("x"), failures: 10, isRetried: false, now: now)
        == .dead(reason: "x"))
    let retried = (0...2).map { delay(.timedOut, failures: $0, isRetried: true)?.count }
    #expect(retried == [5_000, 30_000, nil])
  }

  @Test("S1: each status from 200 to 299 is a delivery, and no other")
  func statuses() {
    for status in 100...599 {
      let verdict = WebhookSchedule.verdict(
        on: .replied(status: status, retryAfter: nil), failures: 0, isRetried: false, now: now)
      #expect((verdict == .delivered) == (200...299).contains(status), "\(status)")
    }
    #expect(
      WebhookSchedule.verdict(
        on: .replied(status: 302, retryAfter: "9"), failures: 0, isRetried: false, now: now)
        == .retry(
          at: now + .seconds(5), reason: "redirect (status 302), which the gateway does not follow")
    )
  }

  @Test("S1: Retry-After of 429 and 503 makes a delay longer, up to 12 hours")
  func retryAfter() {
    func delay(_ status: Int, _ value: String, failures: Int = 0) -> Int64? {
      self.delay(.replied(status: status, retryAfter: value), failures: failures)
        .map { $0.count / 1_000 }
    }
    #expect(delay(429, "60") == 60 && delay(503, "60") == 60)
    #expect(delay(500, "60") == 5 && delay(429, "0") == 5 && delay(503, "60", failures: 3) == 600)
    #expect(delay(503, "43200") == 43_200 && delay(503, "43201") == 43_200)
    #expect(delay(503, "99999999999999999999999") == 43_200)
    for wrong in ["", "-1", "1.5", "soon", "1 ", "٣"] {
      #expect(delay(429, wrong) == 5, "\(wrong)")
    }
    // The time of the test is Tue, 14 Nov 2023 22:13:20 GMT.
    #expect(delay(429, "Tue, 14 Nov 2023 22:14:20 GMT") == 60)
    #expect(delay(429, "Tue, 14 Nov 2000 22:14:20 GMT") == 5)
  }

  @Test("S1: the date of RFC 9110, 5.6.7 is read, and a wrong one is ignored")
  func dates() {
    // RFC 9110 has this date; `date -ud … +%s` has the number.
    #expect(
      RetryAfter.date("Sun, 06 Nov 1994 08:49:37 GMT") == Instant(milliseconds: 784_111_777_000))
    #expect(
      RetryAfter.date("Thu, 29 Feb 2024 00:00:00 GMT") == Instant(milliseconds: 1_709_164_800_000))
    for wrong in [
      "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun 06 Nov 1994",
      "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
    ] {
      #expect(RetryAfter.date(wrong) == nil, "\(wrong)")
    }
  }

  @Test("S1: an attempt is due at its time, and after the clock was set back")
  func due() {
    #expect(WebhookSchedule.isDue(now, now: now))
    #expect(!WebhookSchedule.isDue(now + .milliseconds(1), now: now))
    #expect(!WebhookSchedule.isDue(now + .hours(12), now: now))
    #expect(WebhookSchedule.isDue(now + .hours(12) + .milliseconds(1), now: now))
  }

  @Test("S1: the signature is that of the reference libraries of Standard Webhooks")
  func signature() throws {
    // github.com/standard-webhooks/standard-webhooks, libraries/javascript/src/webhook.test.ts,
    // "sign function works".
    let secret = try #require(WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
    let signature = WebhookSignature(
      id: "msg_p5jXN8AQM9LWM0D4loKWxJek", now: Instant(milliseconds: 1_614_265_330_999),
      body: Array(#"{"test": 2432232314}"#.utf8), secret: secret)
    #expect(signature.value == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    #expect(signature.headers.map(\.value)[1] == "1614265330")
  }

  @Test("S1: secrets have 24 to 64 bytes and appear in no log")
  func secrets() throws {
    for count in 0...70 {
      let secret = WebhookSecret(bytes: Array(repeating: 7, count: count))
      #expect((secret != nil) == (24...64).contains(count))
      if let secret { #expect(WebhookSecret(secret.text)?.text == secret.text) }
    }
    let secret = WebhookSecret.random()
    #expect(secret.text != WebhookSecret.random().text && secret.text.hasPrefix("whsec_"))
    #expect(!"\(secret)".contains("whsec"))
    for wrong in ["", "whsec_", "whsec_!!", String(secret.text.dropFirst(6)), secret.text + "\n"] {
      #expect(WebhookSecret(wrong) == nil, "\(wrong)")
    }
  }

  @Test("S1: ids differ between logs, apps and numbers")
  func ids() {
    let ids = [("s", "a", 1), ("s", "a", 2), ("s", "b", 1), ("t", "a", 1)].map {
      WebhookSignature.id(store: $0, app: $1, number: UInt64($2))
    }
    #expect(Set(ids).count == 4)
    for id in ids { #expect(id.wholeMatch(of: /evt_[0-9a-f]{16}_[12]/) != nil, "\(id)") }
  }
}

/// Origins of webhooks.
@Suite struct AllowedOriginTests {
  @Test("S1: an option is a scheme, a host and at most a port")
  func options() {
    for (text, canonical) in [
      ("https://example.com", "https://example.com"),
      ("HTTPS://Example.COM:443", "https://example.com"),
      ("https://example.com:8443", "https://example.com:8443"),
      ("http://127.0.0.1:80", "http://127.0.0.1"), ("http://[::1]:9", "http://[::1]:9"),
    ] {
      #expect(AllowedOrigin(text)?.description == canonical)
    }
    for wrong in [
      "", "example.com", "https://", "https:///", "https://example.com/",
      "https://example.com/hook",
      "https://a@example.com", "https://example.com?x", "https://example.com#x",
      "ftp://example.com",
      "unix:///tmp/socket", "https://:443", "https://example.com:", "https://example.com:0",
      "https://example.com:65536", "https://example.com:0443", "https://example.com:+443",
      "https://exämple.com", "https://example.com ", "https://*.example.com", "https://[::1",
      "https://[::1]x", "https://[]", "https://[x:1]", "https://a%2eb", "https://a\\b",
    ] {
      #expect(AllowedOrigin(wrong) == nil, "\(wrong)")
    }
  }

  @Test("S1: a URL is allowed if scheme, host and port are exactly those of the operator")
  func matches() throws {
    func allows(_ option: String, _ url: String) throws -> Bool {
      let origin = try #require(AllowedOrigin(option))
      return WebhookURL(url).map(origin.allows) ?? false
    }
    for url in [
      "https://example.com", "https://EXAMPLE.com:443/hook?key=a:b@c", "https://example.com?x=/",
    ] {
      #expect(try allows("https://example.com", url), "\(url)")
    }
    for url in [
      "http://example.com/", "https://example.com:444/", "https://example.com.evil.org/",
      "https://evil.org/https://example.com", "https://example.com@evil.org/",
      "https://evil.org#https://example.com", "https://example.com#x", "https://example.com\\@evil",
      "https://user:pass@example.com/", "https://example.com./", "https://evil.org\\.example.com",
      "https://example.com%00.evil.org", "https:example.com", "https://example.com/ä",
      "https://example.com/\r\nx", "https://example.com/" + String(repeating: "a", count: 2_029),
    ] {
      #expect(try !allows("https://example.com", url), "\(url)")
    }
    let longest = "https://example.com/" + String(repeating: "a", count: 2_028)
    #expect(try allows("https://example.com", longest))
    #expect(try !allows("http://localhost:8080", "http://localhost/"))
  }
}
