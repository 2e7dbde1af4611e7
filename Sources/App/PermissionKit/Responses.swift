import AppClient
import FamilyModel

/// The responses about one kind of topic. Creating the sequence registers the app; iterating opens
/// a loop.
struct Responses<Topic: QuestionTopic>: AsyncSequence {
  typealias Element = PermissionResponse<Topic>
  typealias Failure = Never

  private let session: AppSession?

  init(session: AppSession?) {
    self.session = session
    session?.register()
  }

  func makeAsyncIterator() -> Iterator {
    let kind = (Topic.self as? any ModelTopic.Type)?.kind
    return Iterator(loop: kind.flatMap { session?.openLoop($0) })
  }

  struct Iterator: AsyncIteratorProtocol {
    private let loop: ResponseLoop?
    private var deliveries: AsyncStream<Delivery>.Iterator?

    init(loop: ResponseLoop?) {
      self.loop = loop
      deliveries = loop?.deliveries.makeAsyncIterator()
    }

    mutating func next() async -> Element? {
      guard let loop else { return nil }
      await loop.requestNext()
      while let delivery = await deliveries?.next() {
        loop.received(delivery.position)
        if let question = PermissionQuestion<Topic>(delivery.question) {
          return PermissionResponse(question: question, choice: PermissionChoice(delivery.choice))
        }
        await loop.requestNext()
      }
      return nil
    }
  }
}
