package import ContentCheck
import Credentials
package import DeviceAgent
import FamilyCore
package import FamilyModel
import Foundation
package import ServiceLifecycle
import SystemClock
package import Wording

/// A device in a terminal: shows the conversations, asks what the device asks, and does what is typed.
///
/// Everything comes as one stream of events and is handled in order.
package actor TerminalSession: Service {
  /// Milliseconds that a device has to catch up.
  private static let settling: Int64 = 1_000

  let host: AgentHost
  let address: DeviceAddress
  let console: Console
  let wording: Wording
  private let responder: TerminalResponder
  private let checker: (any ContentChecker)?
  private var pictures = Pictures()
  private(set) var feed = Feed()
  /// The first one has the keyboard.
  private var dialogs: [(dialog: any Dialog, reply: UnsafeContinuation<PromptAnswer, Never>?)] = []
  /// What was being typed when a dialogue came.
  private var draft = ""
  /// As it was looked at last.
  private(set) var view: DeviceView?
  /// Whom a guardian's commands are about.
  var picked: PersonID?
  /// Milliseconds that a code of this session lets a device join.
  static let invitationTime: Int64 = 15 * 60_000
  /// For whom the codes are that this session has shown and nobody has used.
  var invited: [[UInt8]: PersonID] = [:]
  private var facts: FamilySummary?
  private var isConnected: Bool?
  /// Whether it was said that the family does not know the device; each try says so anew.
  private var isShutOut = false
  private var connectedAt = Instant(milliseconds: .max)
  /// Refusals that cannot be explained before something else has come.
  private var refusals: [(command: Command, problem: Problem)] = []

  package init(
    _ host: AgentHost, of address: DeviceAddress, _ responder: TerminalResponder,
    console: Console, wording: Wording, checker: (any ContentChecker)?
  ) {
    self.checker = checker
    self.host = host
    self.address = address
    self.responder = responder
    self.console = console
    self.wording = wording
  }

  var renderer: Renderer {
    Renderer(wording, columns: console.columns, now: .now, pictures: pictures)
  }
  var timeline: Timeline? { view.map { Timeline(link: $0.link, renderer: renderer) } }
  var isGuardian: Bool { view?.isGuardian ?? false }

  package func run() async throws {
    let (responder, console) = (responder, console)
    console.start { responder.events.yield(.input($0)) }
    defer { console.stop() }
    await host.watch { responder.changed() }
    let ticks = Task {
      while !Task.isCancelled {
        try await Task.sleep(for: .seconds(1))
        responder.events.yield(.tick)
      }
    }
    defer { ticks.cancel() }
    await cancelWhenGracefulShutdown {
      for await event in responder.stream {
        guard await self.handle(event) else { break }
      }
    }
  }

  /// Handles one event; `false` ends the session.
  private func handle(_ event: TerminalEvent) async -> Bool {
    switch event {
    case .input(.end): return false
    case .input(.line(let line)):
      guard await take(line) else { return false }
    case .changed, .tick: await look()
    case .notice(let notice):
      await look()
      await tell(notice)
    case .prompt(let prompt, let reply): open(prompt.dialog(received: .now), reply)
    case .picture(let picture, let verdict): found(verdict, in: picture)
    case .passcode(let passcode?): await host.act(.setPasscode(passcode), on: address)
    case .passcode(nil): say(renderer.text(wording(.passcodeLength), .bad))
    }
    showPrompt()
    if case .input = event { console.proceed() }
    return true
  }

  // MARK: the screen

  /// Shows the rows below everything else.
  func say(_ rows: [Row]) {
    feed.interrupted()
    console.show(rows)
  }

  private func showPrompt() {
    if let dialog = dialogs.first?.dialog {
      return console.prompt(dialog.label(renderer), hidden: dialog.isHidden)
    }
    guard let view else { return }
    let child = isGuardian ? pickedChild.map { " → \($0.displayName)" } ?? "" : ""
    console.prompt(view.name.shown.shortened(24) + child.shown.shortened(24) + " › ", hidden: false)
  }

  /// Looks at the device, and shows what is new.
  func look() async {
    responder.looked()
    guard let now = await host.view(of: address) else { return }
    if view == nil {
      say([renderer.rule("permission-relay")] + renderer.text(wording(.youAre, now.name), .bold))
      say(renderer.text("? lists the commands", .faint))
    }
    view = now
    guard let timeline else { return }
    connection(now)
    let outputs = feed.update(timeline, renderer, isGuardian: isGuardian)
    for output in outputs { console.show(output.rows, replacing: output.replacesLast) }
    check(timeline)
    news(timeline)
    refusals.removeAll { explain($0.command, $0.problem, timeline) }
    closeReview(timeline)
  }

  /// The end of the child's conversation once more.
  func showAgain(_ child: Person, _ timeline: Timeline) -> [Row] {
    feed.again(child, timeline, renderer, isGuardian: isGuardian)
  }

  /// Has the pictures of open questions checked, on other threads.
  private func check(_ timeline: Timeline) {
    guard let checker else { return }
    let open = timeline.children.flatMap { timeline.openCards(of: $0.id) }
    for picture in pictures.unchecked(of: open) {
      Task.detached { [events = responder.events] in
        events.yield(.picture(picture, await checker.verdict(on: picture)))
      }
    }
  }

  /// The bubbles came with a warning; one that was not needed is taken back.
  private func found(_ verdict: ContentVerdict, in picture: Avatar) {
    pictures.found(verdict, in: picture)
    guard let timeline, pictures.isClean(picture) else { return }
    for card in timeline.children.flatMap({ timeline.openCards(of: $0.id) })
    where card.pictures.contains(picture) {
      say(feed.note(card.header.id, renderer.line(of: picture), renderer))
    }
  }

  private func connection(_ now: DeviceView) {
    guard now.isConnected != isConnected, isConnected != nil || now.isConnected else { return }
    isConnected = now.isConnected
    connectedAt = .now
    say(renderer.centred(wording(now.isConnected ? .connected : .notConnected)))
  }

  /// What comes while the device catches up is no news; that is over when the person does something.
  private func news(_ timeline: Timeline, isSettled: Bool = false) {
    let new = FamilySummary(timeline)
    if let old = facts {
      let rows = new.news(since: old, renderer)
      if !rows.isEmpty { say(rows) }
    } else if timeline.link.roster.persons.isEmpty
      || !isSettled && connectedAt + Self.settling > renderer.now
    {
      return
    }
    facts = new
  }

  // MARK: dialogues

  func open(_ dialog: any Dialog, _ reply: UnsafeContinuation<PromptAnswer, Never>? = nil) {
    dialogs.append((dialog, reply))
    if dialogs.count == 1 { begin() }
  }

  private func begin() {
    guard let dialog = dialogs.first?.dialog else { return console.restore(draft) }
    if draft.isEmpty { draft = console.draft() }
    say(dialog.opening(renderer))
  }

  private func finish(_ result: DialogResult) async {
    let reply = dialogs.removeFirst().reply
    switch result {
    case .answer(let answer): reply?.resume(returning: answer)
    case .choose(let id, let choice): await host.act(.answer(id, choice: choice), on: address)
    case .withdraw(let child, let what):
      await host.act(.withdraw(child: child, what), on: address)
    case .passcode(let typed):
      // scrypt takes its time by intent.
      Task.detached { [events = responder.events] in
        events.yield(.passcode(try? PasscodeCipher.make(typed)))
      }
    case .nothing: break
    }
    if dialogs.isEmpty { showPrompt() }
    begin()
    if dialogs.isEmpty { draft = "" }
  }

  /// A question that somebody else answered needs no review any more (R3).
  private func closeReview(_ timeline: Timeline) {
    guard let review = dialogs.first?.dialog as? ReviewDialog else { return }
    let conversation = timeline.link.conversations[review.child.id]
    guard let state = conversation?.questions[review.card.header.id],
      !Card(state).isOpen(renderer.now)
    else { return }
    dialogs.removeFirst()
    if let answer = timeline.answer(to: Card(state)) {
      say(renderer.text(wording(.alreadyAnswered, answer.by, answer.title), .question))
    }
    begin()
    draft = ""
  }

  // MARK: lines

  /// Takes a line; `false` ends the session.
  private func take(_ line: String) async -> Bool {
    feed.interrupted()
    await look()
    if let timeline { news(timeline, isSettled: true) }
    if isGuardian {
      // Who types has seen what stands above.
      for (child, seq) in feed.shown.sorted(by: { $0.key < $1.key }) {
        await host.act(GuardianMachine.Input.seen(child: child, seq: seq), on: address)
      }
    }
    if !dialogs.isEmpty {
      switch dialogs[0].dialog.take(line, renderer) {
      case .more(let rows): say(rows)
      case .done(let result): await finish(result)
      }
      return true
    }
    if line.trimmingSpaces.isEmpty { return true }
    guard let command = TerminalCommand(line, isGuardian: isGuardian) else {
      say(renderer.text("That is no command: ? lists them.", .bad))
      return true
    }
    if command == .quit { return false }
    await run(command)
    return true
  }

  // MARK: notices

  private func tell(_ notice: Notice) async {
    guard let timeline else { return }
    let wasShutOut = isShutOut
    isShutOut = if case .shutOut = notice { true } else { false }
    switch notice {
    case .decided(let id, let choice, let guardian) where !isGuardian:
      let question = timeline.link.conversations[timeline.link.personID]?.questions[id]?.question
      let title = timeline.title(of: choice, in: question)
      say(
        renderer.hanging(
          Row("◆ ", .question), wording(.decidedNotice, timeline.name(guardian), title), .bold))
    case .refused(let command, let problem):
      if !explain(command, problem, timeline) { refusals.append((command, problem)) }
    case .noPasscode: say(renderer.text(wording(.noPasscode), .bad))
    case .ageShared(let app, let range):
      let text = wording(.ageSharedNotice, app.rawValue, wording.ages(range))
      say(renderer.hanging(Row("◆ ", .question), text, .bold))
    case .shutOut: if !wasShutOut { say(renderer.text(wording(.notInFamily), .bad)) }
    // These have a line in the conversation.
    case .decided, .message, .reminded, .withdrawn, .disbelieved, .appDisbelieves: break
    case .wantsToJoin(let join): await self.join(join)
    }
  }

  /// Says why something was refused; `false` where that is not known yet.
  private func explain(_ command: Command, _ problem: Problem, _ timeline: Timeline) -> Bool {
    var text = wording(.notDone, "\(problem.code)")
    let id = command.question
    let state = id.flatMap { id in
      timeline.link.conversations.values.lazy.compactMap { $0.questions[id] }.first
    }
    switch problem {
    case .alreadyAnswered:
      guard let state else { break }
      guard let answer = timeline.answer(to: Card(state)) else { return false }
      text = wording(.alreadyAnswered, answer.by, answer.title)
    case .expired: text = wording(.expiredLine)
    case .cancelled:
      if let state { text = wording(.cancelledLine, timeline.name(state.header.child)) }
    case .noPasscode: text = wording(.noPasscode)
    default: break
    }
    say(renderer.text(text, .bad))
    return true
  }
}
