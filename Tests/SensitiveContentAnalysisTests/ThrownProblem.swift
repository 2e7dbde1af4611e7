import Testing

@testable import SensitiveContentAnalysis

/// The number of the problem that a call throws; `nil` for any other end.
func problem(_ body: () async throws -> Void) async -> Int? {
  do { try await body() } catch let problem as DeviceProblem {
    #expect(problem.isWithoutCheck == [422, 460].contains(problem.number))
    return problem.number
  } catch {
    return nil
  }
  return nil
}
