/// Runs asynchronous operations one at a time, in order of arrival.
actor SerialQueue {
  private var last: Task<Void, Never>?
  func run<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) async throws -> R {
    let before = last
    let work = Task {
      await before?.value
      return try await body()
    }
    last = Task { _ = try? await work.value }
    return try await work.value
  }
}
