import AppClient
import DeviceConnection
import FamilyModel
import Foundation
import GatewayModel
import SQLiteStore
import SystemClock

/// The calls of an app. Each one has the semantics of the Swift modules.
extension AppGateway {
  func status() async throws -> JSONValue {
    .object([
      "app": .string(app),
      "isCurrent": .bool(await session.untilCaughtUp(within: .zero)),
      "isConsentWithdrawn": .bool(await session.isConsentWithdrawn),
      "acknowledged": .number(try store.acknowledged(by: app)), "newest": .number(newest),
    ])
  }

  nonisolated func knownHandles(_ body: JSONValue) async throws -> JSONValue {
    var handles: [Handle] = []
    for reader in try JSONReader(body).object("handles").required("handles")
      .array(1...GatewayLimits.handles)
    {
      let handle = try Handle(reader)
      try handle.validate()
      handles.append(handle)
    }
    await session.untilStarted()
    let known = Set(await session.known(of: handles.map(\.canonical)))
    return .object(["known": .array(handles.filter { known.contains($0.canonical) }.map(\.json))])
  }

  func ask(_ body: JSONValue) async throws -> JSONValue {
    let ask = try AskBody(body, newID: UUID())
    try ask.question.validate(now: session.clock())
    guard waitingCount < GatewayLimits.waitingRequests else { throw GatewayProblem.tooMany }
    let session = session
    let task = Task { try await session.ask(ask.question, ask.manner, in: ask.window) }
    lastCall += 1
    let (id, number) = (ask.question.id, lastCall)
    waiting[id, default: [:]][number] = task
    waitingCount += 1
    defer {
      waitingCount -= 1
      waiting[id]?[number] = nil
      if waiting[id]?.isEmpty == true { waiting[id] = nil }
    }
    do {
      let outcome = try await withTaskCancellationHandler {
        try await task.value
      } onCancel: {
        task.cancel()
      }
      if case .refused(let problem) = outcome { throw problem }
      return outcome.json(of: id) ?? .null
    } catch is CancellationError {
      guard !Task.isCancelled else { throw GatewayProblem.stopping }
      return .object(["question": .string(id.uuid.uuidString), "outcome": .string("abandoned")])
    }
  }

  /// Ends the requests that wait for the question's outcome.
  func abandon(_ id: String) throws {
    guard let uuid = UUID(uuidString: id) else {
      throw InvalidBody(path: "id", reason: "not a UUID")
    }
    guard let tasks = waiting[ID128(uuid)] else { throw GatewayProblem.notFound }
    for task in tasks.values { task.cancel() }
  }

  func acknowledge(_ body: JSONValue) throws -> JSONValue {
    let member = try JSONReader(body).object("through").required("through")
    let number = try member.integer(UInt64.self)
    guard number <= newest else {
      throw InvalidBody(path: "through", reason: "above the newest event, \(newest)")
    }
    try store.acknowledge(through: number, of: app)
    return .object(["acknowledged": .number(try store.acknowledged(by: app))])
  }

  // MARK: Ages

  func ageRange(_ body: JSONValue) async throws -> JSONValue {
    let members = try JSONReader(body).object("gates", "window")
    var gates: [Int32] = []
    for gate in try members.required("gates").array(1...3) { gates.append(try gate.integer()) }
    let window = try AskBody.window(members)
    let reply = try await age(.range(gates: gates), window)
    guard let json = reply.rangeJSON, case .object(let answer) = json else {
      throw Problem.ageNotAvailable
    }
    await report(answer, gates)
    return json
  }

  /// Adds an answer to the log unless the log has the same one for these gates.
  private func report(_ answer: [String: JSONValue], _ gates: [Int32]) async {
    let key = "age " + gates.map { "\($0)" }.joined(separator: ",")
    let data = JSONValue.object(
      answer.merging(["gates": .array(gates.map { .number($0) })]) { $1 }
    ).text
    guard (try? store.state(of: app)[key]) != data else { return }
    await append(
      [.init(type: "age.answered", time: session.clock(), data: data)], [.set(key, data)])
  }

  func ageFeatures() async throws -> JSONValue {
    guard case .status(let isEligible, let features) = try await age(.status) else {
      throw Problem.ageNotAvailable
    }
    return .object(["isEligible": .bool(isEligible), "required": features.json])
  }

  func ageRating() async throws -> JSONValue {
    guard case .rating(let rating) = try await age(.rating) else { throw Problem.ageNotAvailable }
    return .object(["rating": .orNull(rating?.rawValue)])
  }

  func acknowledgeUpdate(_ body: JSONValue) async throws -> JSONValue {
    let members = try JSONReader(body).object("description", "window")
    let description = try members.required("description").string()
    let window = try AskBody.window(members)
    let outcome =
      switch try await age(.acknowledge(description: description), window) {
      case .acknowledged: "acknowledged"
      default: "declined"
      }
    return .object(["outcome": .string(outcome)])
  }

  private func age(_ request: AgeRequest, _ window: String = "") async throws -> AgeReply {
    guard waitingCount < GatewayLimits.waitingRequests else { throw GatewayProblem.tooMany }
    waitingCount += 1
    defer { waitingCount -= 1 }
    let reply = try await session.ask(request, in: window)
    if case .failed(let problem) = reply { throw problem }
    return reply
  }
}
