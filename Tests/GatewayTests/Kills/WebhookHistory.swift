/// The events that a receiver of webhooks has got, in order, and their check.
struct WebhookHistory {
  struct Receipt {
    var number: Int
    var id: String
    var body: String
    /// Whether the receiver replied that it has the event.
    var isAccepted: Bool
  }
  var receipts: [Receipt]

  init(_ receipts: [Receipt]) { self.receipts = receipts }

  init(_ requests: [WebhookReceiver.Request]) {
    receipts = requests.map {
      Receipt(
        number: $0.id.split(separator: "_").last.flatMap { Int($0) } ?? 0, id: $0.id,
        body: $0.body, isAccepted: $0.isAccepted)
    }
  }

  /// The breaches of: each event up to `newest` arrives, in order, and a repeat is the same event.
  func faults(newest: Int) -> [String] {
    var faults: [String] = []
    var (last, accepted) = (0, Set<Int>())
    var contents: [Int: (id: String, body: String)] = [:]
    for receipt in receipts {
      let number = receipt.number
      if number != last, number != last + 1 { faults.append("event \(number) follows \(last)") }
      if number == last + 1, last > 0, !accepted.contains(last) {
        faults.append("event \(number) is sent before \(last) is accepted")
      }
      last = max(last, number)
      if receipt.isAccepted { accepted.insert(number) }
      if let first = contents[number], first != (receipt.id, receipt.body) {
        faults.append("event \(number) changes")
      }
      contents[number] = (receipt.id, receipt.body)
    }
    if Set(contents.values.map(\.id)).count < contents.count { faults.append("an id is reused") }
    for number in 1...max(newest, 1) where !accepted.contains(number) {
      faults.append("event \(number) is lost")
    }
    return faults
  }
}
