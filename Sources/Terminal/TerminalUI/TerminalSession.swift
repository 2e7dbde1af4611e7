package import ContentCheck
import Credentials
package import DeviceAgent
import FamilyCore
package import FamilyModel
import FamilyTrust
import Foundation
import ServiceLifecycle
import SystemClock
package import Wording

/// A device in a terminal: shows conversations and prompts, and executes typed commands.
///
/// All input arrives as one stream of events, which the session processes in order.
package actor TerminalSession: Service {
  /// The time after connecting in which changes count as catching up, not as news.
  private static let catchUpTime = Milliseconds.seconds(1)

  let host: AgentHost
  let address: DeviceAddress
  let console: Console
  let wording: Wording
  private let responder: TerminalResponder
  private let checker: (any ContentChecker)?
  private var pictures = Pictures()
  private(set) var feed = Feed()
  /// The queue of dialogs; the first one receives the input.
  private var dialogs: [(dialog: any Dialog, reply: UnsafeContinuation<PromptAnswer, Never>?)] = []
  /// Whether a dialog's result is carried out; a dialog that it opens begins afterwards.
  private var isFinishing = false
  /// The unfinished line that the first dialog interrupted.
  private var draft = ""
  /// The device's state at the last refresh; `nil` before the first one.
  private(set) var view: DeviceView?
  /// The apps with a name, as people read them.
  private var appNames: [AppID: String] = [:]
  /// The child that a guardian selected with `with`.
  var picked: PersonID?
  /// The time for which a shown code admits a device.
  static let invitationTime = Milliseconds.minutes(15)
  /// The invitations of this session's unused codes, by their public keys.
  var invited: [[UInt8]: Invitation] = [:]
  /// The notifications of the last list, in its order.
  var shownNotifications: [CommandID] = []
  /// The codes of invitations that the relay has not accepted yet.
  var waitingCodes: [JoinTicket] = []
  /// The name of the child that this session creates and then sets up.
  var onboarding: String?
  private var summary: FamilySummary?
  private(set) var shownRelay = RelayState.connecting
  /// Whether the screen says that the device is not in the family.
  private var isShutOut = false
  private var connectedAt = Instant(milliseconds: .max)
  /// Refusals whose explanation needs an event that has not arrived yet.
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
    Renderer(
      wording, columns: console.columns, now: .now, pictures: pictures, appNames: appNames)
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
        guard await self.process(event) else { break }
      }
    }
  }

  /// Processes one event.
  ///
  /// - Returns: `false` to end the session.
  private func process(_ event: TerminalEvent) async -> Bool {
    switch event {
    case .input(.end): return false
    case .input(.line(let line)):
      guard await submit(line) else { return false }
    case .changed, .tick: await refresh()
    case .notice(let notice):
      await refresh()
      await announce(notice)
    case .prompt(let prompt, let window, let reply):
      await refresh()
      let hasPasscode = view?.link.passcode != nil
      open(prompt.dialog(received: .now, in: window, hasPasscode: hasPasscode), reply)
    case .picture(let picture, let verdict): record(verdict, for: picture)
    }
    showPrompt()
    if case .input = event { console.resumeReading() }
    return true
  }

  // MARK: Output

  /// Appends rows to the output.
  func write(_ rows: [Row]) {
    feed.invalidateLastRow()
    console.show(rows)
  }

  private func showPrompt() {
    if let dialog = dialogs.first?.dialog {
      return console.prompt(dialog.label(renderer), hidden: dialog.isHidden)
    }
    guard let view else { return }
    let child = isGuardian ? pickedChild.map { " → \($0.displayName)" } ?? "" : ""
    console.prompt(
      view.name.displaySafe.shortened(24) + child.displaySafe.shortened(24) + " › ", hidden: false)
  }

  /// Reads the device's state and shows what is new.
  func refresh() async {
    responder.changeProcessed()
    guard let now = await host.view(of: address) else { return }
    if view == nil {
      write([renderer.rule("permission-relay")] + renderer.text(wording(.youAre, now.name), .bold))
      write(renderer.text(wording(.helpHint), .faint))
      if now.notifications.unread > 0 {
        write(
          renderer.text(wording(.unreadNotifications, "\(now.notifications.unread)"), .question))
      }
    }
    view = now
    appNames = now.appNames(host.configuration.manifests, wording)
    guard let timeline else { return }
    showConnection(now)
    showRemoval(now)
    let outputs = feed.update(timeline, renderer, isGuardian: isGuardian)
    for output in outputs { console.show(output.rows, replacing: output.replacesLast) }
    checkPictures(timeline)
    announceChanges(timeline)
    refusals.removeAll { explain($0.command, $0.problem, timeline) }
    closeReview(timeline)
    showCodes(timeline)
    beginOnboarding(timeline)
  }

  /// The newest entries of the child's conversation, shown again.
  func replay(_ child: Person, _ timeline: Timeline) -> [Row] {
    feed.replay(child, timeline, renderer, isGuardian: isGuardian)
  }

  /// Starts the content check for pictures of open questions, in detached tasks.
  private func checkPictures(_ timeline: Timeline) {
    guard let checker else { return }
    let open = timeline.children.flatMap { timeline.openCards(of: $0.id) }
    for picture in pictures.unchecked(of: open) {
      Task.detached { [events = responder.events] in
        events.yield(.picture(picture, await checker.verdict(on: picture)))
      }
    }
  }

  /// Records a verdict, and replaces the warning of a clean picture by its description.
  private func record(_ verdict: ContentVerdict, for picture: Avatar) {
    pictures.record(verdict, for: picture)
    guard let timeline, pictures.isClean(picture) else { return }
    for card in timeline.children.flatMap({ timeline.openCards(of: $0.id) })
    where card.pictures.contains(picture) {
      write(feed.statusLine(card.header.id, renderer.line(of: picture), renderer))
    }
  }

  /// Shows once that the device is not in the family.
  private func showRemoval(_ now: DeviceView) {
    guard now.link.isShutOut != isShutOut else { return }
    isShutOut = now.link.isShutOut
    if isShutOut { write(renderer.text(wording(.notInFamily), .bad)) }
  }

  /// Shows a change of the connection. A first attempt that is under way shows nothing.
  private func showConnection(_ now: DeviceView) {
    let wasConnected = shownRelay == .connected
    guard now.relay != shownRelay, now.relay != .connecting || wasConnected else { return }
    shownRelay = now.relay == .connecting ? .unreachable : now.relay
    connectedAt = .now
    switch shownRelay {
    case .connected: write(renderer.centred(wording(.connected)))
    case .wrongRelay: write(renderer.text(wording(.otherRelay), .bad))
    case .unreachable, .connecting: write(renderer.centred(wording(.notConnected)))
    case .unused: break
    }
  }

  /// Announces changed settings, except while the device catches up after connecting.
  ///
  /// - Parameter isCaughtUp: Whether the person has typed, which ends catching up.
  private func announceChanges(_ timeline: Timeline, isCaughtUp: Bool = false) {
    let new = FamilySummary(timeline, name: view?.name ?? "")
    if let old = summary {
      let rows = new.changes(since: old, renderer)
      if !rows.isEmpty { write(rows) }
    } else if view?.relay != .unused,
      timeline.link.roster.persons.isEmpty
        || !isCaughtUp && connectedAt + Self.catchUpTime > renderer.now
    {
      return
    }
    summary = new
  }

  // MARK: Dialogs

  func open(_ dialog: any Dialog, _ reply: UnsafeContinuation<PromptAnswer, Never>? = nil) {
    dialogs.append((dialog, reply))
    if dialogs.count == 1, !isFinishing { begin() }
  }

  private func begin() {
    guard let dialog = dialogs.first?.dialog else { return console.restore(draft) }
    if draft.isEmpty { draft = console.removeDraft() }
    // A person may type as soon as the first row appears.
    console.prompt("", hidden: dialog.isHidden)
    write(dialog.opening(renderer))
  }

  private func finish(_ result: DialogResult) async {
    let reply = dialogs.removeFirst().reply
    isFinishing = true
    defer { isFinishing = false }
    switch result {
    case .answer(let answer): reply?.resume(returning: answer)
    case .choose(let id, let choice): await host.act(.answer(id, choice: choice), on: address)
    case .withdraw(let child, let withdrawal):
      await host.act(.withdraw(child: child, withdrawal), on: address)
    case .passcode(let typed): await host.act(.choosePasscode(typed), on: address)
    case .roster(let roster): await act(.setRoster(roster))
    case .onboard(let child, let answer, let next): await onboard(child, answer, next: next)
    case .nothing: break
    }
    if dialogs.isEmpty { showPrompt() }
    begin()
    if dialogs.isEmpty { draft = "" }
  }

  /// Closes the review of a question that another guardian answered in the meantime.
  private func closeReview(_ timeline: Timeline) {
    guard let review = dialogs.first?.dialog as? ReviewDialog else { return }
    let conversation = timeline.link.conversations[review.child.id]
    guard let state = conversation?.questions[review.card.header.id],
      !Card(state).isOpen(renderer.now)
    else { return }
    dialogs.removeFirst()
    if let answer = timeline.answer(to: Card(state)) {
      write(renderer.text(wording(.alreadyAnswered, answer.by, answer.title), .question))
    }
    begin()
    draft = ""
  }

  // MARK: Input lines

  /// Executes a line, in the first dialog or as a command.
  ///
  /// - Returns: `false` to end the session.
  private func submit(_ line: String) async -> Bool {
    feed.invalidateLastRow()
    await refresh()
    if let timeline { announceChanges(timeline, isCaughtUp: true) }
    if isGuardian {
      // A typed line proves that the guardian has read the entries above it.
      for (child, seq) in feed.shownSeq.sorted(by: { $0.key < $1.key }) {
        await host.act(GuardianMachine.Input.seen(child: child, seq: seq), on: address)
      }
    }
    if !dialogs.isEmpty {
      if line.trimmingSpaces.isEmpty, let result = dialogs[0].dialog.leaving {
        await finish(result)
        return true
      }
      switch dialogs[0].dialog.submit(line, renderer) {
      case .more(let rows): write(rows)
      case .done(let result): await finish(result)
      }
      return true
    }
    if line.trimmingSpaces.isEmpty { return true }
    guard let command = TerminalCommand(line, isGuardian: isGuardian) else {
      let usage = TerminalCommand.usage(of: line, isGuardian: isGuardian)
      let error =
        usage.isEmpty
        ? wording(.unknownCommand, line.displaySafe.shortened(40)) : wording(.usageHint)
      write(renderer.text(error, .bad) + renderer.help(usage))
      return true
    }
    if command == .quit { return false }
    await run(command)
    return true
  }

  // MARK: Notices

  private func announce(_ notice: Notice) async {
    guard let timeline else { return }
    switch notice {
    case .decided(let id, let choice, let guardian) where !isGuardian:
      let state = timeline.link.conversations[timeline.link.personID]?.questions[id]
      let title = timeline.title(of: choice, in: state)
      write(
        renderer.hanging(
          Row("◆ ", .question),
          timeline.prefix(id) + wording(.decidedNotice, timeline.name(guardian), title), .bold))
    case .refused(let command, let problem):
      abandon(command)
      if !explain(command, problem, timeline) { refusals.append((command, problem)) }
    case .noPasscode: write(renderer.text(wording(.noPasscode), .bad))
    case .passcodeNotSet: write(renderer.text(wording(.passcodeNotSet), .bad))
    case .ageShared(let app, let range):
      let text = wording(.ageSharedNotice, renderer.name(of: app), wording.ages(range))
      write(renderer.hanging(Row("◆ ", .question), text, .bold))
    case .ratingRaised(let app, let rating):
      let text = wording(.ratingRaised, renderer.name(of: app), "\(rating.rawValue)+")
      write(renderer.hanging(Row("◆ ", .question), text, .bold))
    case .ratingsRaised(let child, let risen):
      let text = wording(.ratingsRaised, timeline.name(child), renderer.list(risen))
      write(renderer.hanging(Row("◆ ", .question), text, .bold))
    case .unopened(let count): write(renderer.text(wording(.cannotOpen, "\(count)"), .faint))
    // The conversation, or another line of the screen, shows each of these.
    case .shutOut, .decided, .message, .reminded, .withdrawn, .eventRejected, .historyLost,
      .appRejected, .deviceAdded:
      break
    case .wantsToJoin(let join): await self.join(join)
    }
  }

  /// Shows why the relay refused a command.
  ///
  /// - Returns: `false` if the explanation needs an event that has not arrived yet.
  private func explain(_ command: Command, _ problem: Problem, _ timeline: Timeline) -> Bool {
    guard let reason = timeline.reason(for: problem, of: command) else { return false }
    write(renderer.text(reason, .bad))
    return true
  }
}
