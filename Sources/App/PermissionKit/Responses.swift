import AppClient
import FamilyModel

/// The responses about one kind of topic. Iteration subscribes; creating the sequence does not.
struct Responses<Topic: QuestionTopic>: AsyncSequence {
  typealias Element = PermissionResponse<Topic>
  typealias Failure = Never

  let session: AppSession?

  func makeAsyncIterator() -> Iterator { Iterator(session: session) }

  struct Iterator: AsyncIteratorProtocol {
    let session: AppSession?
    private var stream: AsyncStream<AppSession.Delivery>.Iterator?
    private var last: UInt64?

    init(session: AppSession?) { self.session = session }

    mutating func next() async -> Element? {
      guard let session, let kind = (Topic.self as? any ModelTopic.Type)?.kind else { return nil }
      if stream == nil { stream = await session.subscribe(kind).makeAsyncIterator() }
      // Requesting the next response acknowledges the last one.
      if let last { await session.consumed(last) }
      last = nil
      while let delivery = await stream?.next() {
        last = delivery.position
        if let question = PermissionQuestion<Topic>(delivery.question) {
          return PermissionResponse(question: question, choice: PermissionChoice(delivery.choice))
        }
        await session.consumed(delivery.position)
      }
      return nil
    }
  }
}
