import FamilyCore
import FamilyModel
import History
import RelayWire

/// An app's process and its disk. Like Landmarks, the app handles one response after another.
final class SimulatedApp {
  let id: AppID
  var machine: AppMachine
  var disk = Journal<AppRecordChange>()
  var isRunning = false
  var life = 0
  /// The life of the device that launched the app; `nil` if a person opened it.
  var launchedBy: Int?
  /// The life of the connected device; `nil` if not connected.
  var deviceLife: Int?
  var crash = CrashCountdown()
  var diskFault: DiskFault?
  var delay = Milliseconds.zero
  var hasLostState = false
  /// Whether the device lost its store and may not have read the rosters again.
  var mayLackRosters = false
  /// Responses that the machine delivered and the app has not handled.
  var delivered: [UInt64: (question: QuestionID, choice: String)] = [:]
  /// The moments of each interval that the app has durably handled, by the interval's number.
  var handledMoments: [UInt64: [ActivityMoment]] = [:]
  /// When the app has handled its delivered responses, for each kind of topic.
  var busyUntil: [Milliseconds] = [.zero, .zero]
  /// The last activity, and until when a person keeps the app open.
  var lastActivity = Milliseconds.zero
  var openUntil = Milliseconds.zero
  /// The question whose outcome the app does not know yet.
  var unansweredQuestion: (Question, AskManner)?
  var lastSent = Milliseconds.zero
  /// The number of the last age request.
  var lastAge: UInt64 = 0

  /// The keys that the app trusts, given by its device's launcher.
  let security: AppSecurity
  private let vault: FakeVault

  init(_ id: AppID, _ security: AppSecurity, _ vault: FakeVault) {
    self.id = id
    self.security = security
    self.vault = vault
    machine = AppMachine(id)
  }

  func restore() {
    machine = AppMachine(id, trusting: (security, vault), restoring: disk.records())
  }

  func loseDevice() {
    guard isRunning, deviceLife != nil else { return }
    deviceLife = nil
    _ = machine.step(.disconnected)
  }
}

extension World {
  /// The time of inactivity after which an app in the background ends.
  private static let idleTimeout = Milliseconds.milliseconds(500)
  /// The time for which a second process waits for the lock of the app's store.
  private static let storeLockTimeout = Milliseconds.seconds(5)

  func launch(_ index: Int, _ number: Int, _ deviceLife: Int) {
    let (device, app) = (devices[index], devices[index].apps[number])
    guard device.life == deviceLife, device.isRunning else { return }
    guard !app.isRunning else {
      // Another process holds the store's lock: the new process times out.
      return queue.schedule(
        .appEnded(index, number, deviceLife: deviceLife), at: now + Self.storeLockTimeout)
    }
    startApp(index, number, byDevice: true)
  }

  func startApp(_ index: Int, _ number: Int, byDevice: Bool) {
    let (device, app) = (devices[index], devices[index].apps[number])
    guard !app.isRunning else { return }
    app.isRunning = true
    app.hasLostState = false
    app.life += 1
    app.launchedBy = byDevice ? device.life : nil
    app.deviceLife = nil
    app.delivered = [:]
    app.busyUntil = [now, now]
    app.lastActivity = now
    app.restore()
    recordKnown(AppAddress(device.address, app.id), app)
    for kind in [Topic.Kind.communication, .significantUpdate] {
      step(.subscribe(kind), index, number)
    }
    step(.handleMoments, index, number)
    // Each process shows other conversations.
    let named = Scenario.handles.enumerated().filter { ($0.offset + app.life + number) % 2 == 0 }
    step(.name(named.map(\.element.canonical)), index, number)
    appMeetsDevice(index, number)
    queue.schedule(.appIdle(index, number, life: app.life), at: now + Self.idleTimeout)
  }

  func appMeetsDevice(_ index: Int, _ number: Int) {
    guard devices[index].isRunning else { return }
    queue.schedule(
      .appConnected(index, number, life: devices[index].apps[number].life),
      at: now + random.milliseconds(1...30))
  }

  func appConnected(_ index: Int, _ number: Int, life: Int) {
    let (device, app) = (devices[index], devices[index].apps[number])
    guard app.life == life, app.isRunning, app.deviceLife == nil, device.isRunning else { return }
    app.deviceLife = device.life
    step(.connected, index, number)
  }

  /// Ends the app's process.
  ///
  /// - Parameter isReported: Whether the device is notified if it launched the app.
  func endApp(_ index: Int, _ number: Int, isReported: Bool) {
    let (device, app) = (devices[index], devices[index].apps[number])
    guard app.isRunning else { return }
    app.isRunning = false
    app.crash = CrashCountdown()
    app.deviceLife = nil
    if isReported, let life = app.launchedBy, life == device.life {
      queue.schedule(
        .appEnded(index, number, deviceLife: life), at: now + random.milliseconds(1...10))
    }
  }

  func appEnded(_ index: Int, _ number: Int, _ deviceLife: Int) {
    guard devices[index].life == deviceLife, devices[index].isRunning else { return }
    child(index, .appGone(devices[index].apps[number].id, exited: true))
  }

  func appIdle(_ index: Int, _ number: Int, life: Int) {
    let app = devices[index].apps[number]
    guard app.life == life, app.isRunning else { return }
    let idleAt = max(app.lastActivity + Self.idleTimeout, app.openUntil)
    if app.delivered.isEmpty, idleAt <= now { return endApp(index, number, isReported: true) }
    queue.schedule(.appIdle(index, number, life: life), at: max(now + .milliseconds(50), idleAt))
  }

  private func survives(_ app: SimulatedApp, _ index: Int, _ number: Int) -> Bool {
    guard app.isRunning else { return false }
    guard app.crash.fires() else { return true }
    let power = app.crash.power
    endApp(index, number, isReported: true)
    if power { endDevice(index, power: true) }
    return false
  }

  // MARK: the device socket

  func send(_ reply: AppReply, to app: SimulatedApp, _ index: Int, _ number: Int) {
    let decoded = reply.encode().withUnsafeBytes { try! AppReply.decode($0) }
    app.lastSent = max(app.lastSent, now + random.milliseconds(0...2) + app.delay)
    queue.schedule(.toApp(index, number, life: app.life, decoded), at: app.lastSent)
  }

  func toApp(_ index: Int, _ number: Int, _ life: Int, _ reply: AppReply) {
    let (device, app) = (devices[index], devices[index].apps[number])
    guard app.life == life, app.isRunning, app.deviceLife == device.life else { return }
    app.lastActivity = now
    if case .asked(let id, let outcome) = reply {
      if outcome == .sent { record(.sent(AppAddress(device.address, app.id), id)) }
      if app.unansweredQuestion?.0.id == id { app.unansweredQuestion = nil }
    }
    if case .age(_, .shared(let range)) = reply {
      record(.ageShared(AppAddress(device.address, app.id), range))
    }
    step(.reply(reply), index, number)
  }

  func fromApp(
    _ index: Int, _ number: Int, _ life: Int, _ deviceLife: Int, _ request: AppRequest
  ) {
    let device = devices[index]
    guard device.life == deviceLife, device.isRunning else { return }
    child(index, .app(device.apps[number].id, request))
    if mutant == .webMessages, case .useWeb(let message, let pages) = request {
      child(index, .app(device.apps[number].id, .useWeb(message + 1, pages)))
    }
  }

  // MARK: the app's code

  /// Steps the app's machine and carries out its effects.
  func step(_ input: AppMachine.Input, _ index: Int, _ number: Int) {
    let (device, app) = (devices[index], devices[index].apps[number])
    let address = AppAddress(device.address, app.id)
    switch input {
    case .name(let handles): record(.names(address, handles))
    case .ask(let question, _, _):
      record(.names(address, question.topic.handles.map(\.canonical)))
    default: break
    }
    var moments: [(position: UInt64?, name: String, number: UInt64, ActivityMoment)] = []
    var isAuthorized = false
    let effects = app.machine.step(input)
    // An authorization that is in force again makes the device repeat the moments of present intervals.
    if app.machine.authorization != .approved { app.handledMoments = [:] }
    for effect in effects {
      guard survives(app, index, number) else { return }
      switch effect {
      case .persist(let changes):
        guard persist(changes, of: input, app, address) else {
          return endApp(index, number, isReported: true)
        }
      case .send(let request):
        guard let life = app.deviceLife else { continue }
        let decoded = request.encode().withUnsafeBytes { try! AppRequest.decode($0) }
        app.lastSent = max(app.lastSent, now + random.milliseconds(0...2) + app.delay)
        queue.schedule(
          .fromApp(index, number, life: app.life, deviceLife: life, decoded), at: app.lastSent)
      case .deliver(let position, let question, let choice):
        app.delivered[position] = (question.id, choice.id)
        let loop = question.topic.kind == .communication ? 0 : 1
        app.busyUntil[loop] =
          max(app.busyUntil[loop], now) + random.milliseconds(1...40) + app.delay
        queue.schedule(
          .appHandles(index, number, life: app.life, position: position), at: app.busyUntil[loop])
      case .rejected(.forked) where app.mayLackRosters: break
      case .rejected(let problem) where adversary == .relay:
        record(.fault("an app rejects an entry: \(problem)"))
      case .rejected(let problem):
        record(.breach("an app of an honest device rejected an entry: \(problem)"))
      case .caughtUp: app.mayLackRosters = false
      case .authorized(_, let isApproved): isAuthorized = isApproved
      case .moment(let position, let name, let number, let moment, _):
        moments.append((position, name, number, moment))
      case .asked, .age, .consentChanged, .namesChanged, .sitesChanged, .managed,
        .safetyChanged, .analyzed, .watched:
        break
      }
    }
    if isAuthorized { watch(index, number) }
    for (position, name, interval, moment) in moments {
      handle(moment, of: name, interval, at: position, index, number)
    }
    if case .consumed(let position) = input { app.delivered[position] = nil }
  }

  /// Writes the changes.
  ///
  /// - Returns: `false` after a failure of the store, which ends the app.
  private func persist(
    _ changes: [AppRecordChange], of input: AppMachine.Input, _ app: SimulatedApp,
    _ address: AppAddress
  ) -> Bool {
    let outcome = writeOutcome(app.diskFault)
    if case .failed(isWritten: false) = outcome { return false }
    app.disk.append(changes, syncs: mutant != .deviceFsync)
    recordKnown(address, app)
    if case .consumed(let position) = input, let (question, _) = app.delivered[position] {
      record(.consumed(address, question))
    }
    if case .failed = outcome { return false }
    return true
  }

  private func recordKnown(_ address: AppAddress, _ app: SimulatedApp) {
    record(.knows(address, app.machine.known.sorted(), named: app.machine.named.sorted()))
  }

  func appHandles(_ index: Int, _ number: Int, life: Int, position: UInt64) {
    let (device, app) = (devices[index], devices[index].apps[number])
    guard app.life == life, app.isRunning, let (question, choice) = app.delivered[position] else {
      return
    }
    guard survives(app, index, number) else { return }
    app.lastActivity = now
    record(.handled(AppAddress(device.address, app.id), question, choice: choice))
    if app.unansweredQuestion?.0.id == question { app.unansweredQuestion = nil }
    guard survives(app, index, number) else { return }
    step(.consumed(position), index, number)
  }
}
