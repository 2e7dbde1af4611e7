import FamilyCore
import FamilyModel
import History
import RelayWire

/// An app's process, and its disk. Its code is that of Landmarks: it handles one response after the other.
final class AppProcess {
  let id: AppID
  var machine: AppMachine
  var disk = Journal<AppRecordChange>()
  var isRunning = false
  var life = 0
  /// The life of the device that started it; `nil`: a person did.
  var launchedBy: Int?
  /// The life of the device that it is connected to.
  var deviceLife: Int?
  var fuse = Fuse()
  var isFull = false
  var delay: Int64 = 0
  var hasForgotten = false
  /// Responses that its code was given and has not handled.
  var given: [UInt64: (question: QuestionID, choice: String)] = [:]
  /// When its code is done with what it has, for each kind of topic.
  var busyUntil: [Int64] = [0, 0]
  /// When something happened last, and until when a person looks at it.
  var lastWord: Int64 = 0
  var openUntil: Int64 = 0
  /// The question of which it does not know how the asking ended.
  var asking: (Question, AskManner)?
  var lastSent: Int64 = 0
  /// The number of its last request for an age range.
  var lastAge: UInt64 = 0

  /// Whom it trusts, as its device's launcher says.
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
  /// Seconds without a word after which an app that nobody looks at sleeps.
  private static let idle: Int64 = 500
  /// As `AppSession`: how long a second process waits for the app's store.
  private static let storePatience: Int64 = 5_000

  func launch(_ index: Int, _ number: Int, _ deviceLife: Int) {
    let (device, app) = (devices[index], devices[index].apps[number])
    guard device.life == deviceLife, device.isRunning else { return }
    guard !app.isRunning else {
      // Another process has the store: the new one gives up.
      return agenda.plan(
        .appEnded(index, number, deviceLife: deviceLife), at: now + Self.storePatience)
    }
    startApp(index, number, byDevice: true)
  }

  func startApp(_ index: Int, _ number: Int, byDevice: Bool) {
    let (device, app) = (devices[index], devices[index].apps[number])
    guard !app.isRunning else { return }
    app.isRunning = true
    app.hasForgotten = false
    app.life += 1
    app.launchedBy = byDevice ? device.life : nil
    app.deviceLife = nil
    app.given = [:]
    app.busyUntil = [now, now]
    app.lastWord = now
    app.restore()
    note(.knows(AppAddress(device.address, app.id), app.machine.known.sorted()))
    for kind in [Topic.Kind.communication, .significantUpdate] {
      step(.subscribe(kind), index, number)
    }
    appMeetsDevice(index, number)
    agenda.plan(.appIdle(index, number, life: app.life), at: now + Self.idle)
  }

  func appMeetsDevice(_ index: Int, _ number: Int) {
    guard devices[index].isRunning else { return }
    agenda.plan(
      .appConnected(index, number, life: devices[index].apps[number].life),
      at: now + dice.within(1...30))
  }

  func appConnected(_ index: Int, _ number: Int, life: Int) {
    let (device, app) = (devices[index], devices[index].apps[number])
    guard app.life == life, app.isRunning, app.deviceLife == nil, device.isRunning else { return }
    app.deviceLife = device.life
    step(.connected, index, number)
  }

  /// The app's process ends. The device hears of it if it had started it, and if it `tells`.
  func endApp(_ index: Int, _ number: Int, tells: Bool) {
    let (device, app) = (devices[index], devices[index].apps[number])
    guard app.isRunning else { return }
    app.isRunning = false
    app.fuse = Fuse()
    app.deviceLife = nil
    if tells, let life = app.launchedBy, life == device.life {
      agenda.plan(.appEnded(index, number, deviceLife: life), at: now + dice.within(1...10))
    }
  }

  func appEnded(_ index: Int, _ number: Int, _ deviceLife: Int) {
    guard devices[index].life == deviceLife, devices[index].isRunning else { return }
    child(index, .appGone(devices[index].apps[number].id, exited: true))
  }

  func appIdle(_ index: Int, _ number: Int, life: Int) {
    let app = devices[index].apps[number]
    guard app.life == life, app.isRunning else { return }
    let rests = max(app.lastWord + Self.idle, app.openUntil)
    if app.given.isEmpty, rests <= now { return endApp(index, number, tells: true) }
    agenda.plan(.appIdle(index, number, life: life), at: max(now + 50, rests))
  }

  private func survives(_ app: AppProcess, _ index: Int, _ number: Int) -> Bool {
    guard app.isRunning else { return false }
    guard app.fuse.burns() else { return true }
    let power = app.fuse.power
    endApp(index, number, tells: true)
    if power { endDevice(index, power: true) }
    return false
  }

  // MARK: the device socket

  func send(_ reply: AppReply, to app: AppProcess, _ index: Int, _ number: Int) {
    let decoded = reply.encode().withUnsafeBytes { try! AppReply.decode($0) }
    app.lastSent = max(app.lastSent, now + dice.within(0...2) + app.delay)
    agenda.plan(.toApp(index, number, life: app.life, decoded), at: app.lastSent)
  }

  func toApp(_ index: Int, _ number: Int, _ life: Int, _ reply: AppReply) {
    let (device, app) = (devices[index], devices[index].apps[number])
    guard app.life == life, app.isRunning, app.deviceLife == device.life else { return }
    app.lastWord = now
    if case .asked(let id, let outcome) = reply {
      if outcome == .sent { note(.sent(AppAddress(device.address, app.id), id)) }
      if app.asking?.0.id == id { app.asking = nil }
    }
    if case .age(_, .shared(let range)) = reply {
      note(.ageTold(AppAddress(device.address, app.id), range))
    }
    step(.reply(reply), index, number)
  }

  func fromApp(
    _ index: Int, _ number: Int, _ life: Int, _ deviceLife: Int, _ request: AppRequest
  ) {
    let device = devices[index]
    guard device.life == deviceLife, device.isRunning else { return }
    child(index, .app(device.apps[number].id, request))
  }

  // MARK: the app's code

  /// As `AppSession.step`.
  func step(_ input: AppMachine.Input, _ index: Int, _ number: Int) {
    let (device, app) = (devices[index], devices[index].apps[number])
    let address = AppAddress(device.address, app.id)
    for effect in app.machine.step(input) {
      guard survives(app, index, number) else { return }
      switch effect {
      case .persist(let changes):
        // A store that fails ends the app.
        guard !app.isFull else { return endApp(index, number, tells: true) }
        app.disk.append(changes, syncs: mutant != .deviceFsync)
        note(.knows(address, app.machine.known.sorted()))
        if case .consumed(let position) = input, let (question, _) = app.given[position] {
          note(.settled(address, question))
        }
      case .send(let request):
        guard let life = app.deviceLife else { continue }
        let decoded = request.encode().withUnsafeBytes { try! AppRequest.decode($0) }
        app.lastSent = max(app.lastSent, now + dice.within(0...2) + app.delay)
        agenda.plan(
          .fromApp(index, number, life: app.life, deviceLife: life, decoded), at: app.lastSent)
      case .deliver(let position, let question, let choice):
        app.given[position] = (question.id, choice.id)
        let loop = question.topic.kind == .communication ? 0 : 1
        app.busyUntil[loop] = max(app.busyUntil[loop], now) + dice.within(1...40) + app.delay
        agenda.plan(
          .appHandles(index, number, life: app.life, position: position), at: app.busyUntil[loop])
      // The device is honest here, and so whatever it tells is to be believed.
      case .disbelieved(let problem):
        fatalError("seed \(scenario.seed): an app refused: \(problem)")
      case .asked, .age, .consentChanged, .caughtUp: break
      }
    }
    if case .consumed(let position) = input { app.given[position] = nil }
  }

  func appHandles(_ index: Int, _ number: Int, life: Int, position: UInt64) {
    let (device, app) = (devices[index], devices[index].apps[number])
    guard app.life == life, app.isRunning, let (question, choice) = app.given[position] else {
      return
    }
    guard survives(app, index, number) else { return }
    app.lastWord = now
    note(.handled(AppAddress(device.address, app.id), question, choice: choice))
    if app.asking?.0.id == question { app.asking = nil }
    guard survives(app, index, number) else { return }
    step(.consumed(position), index, number)
  }
}
