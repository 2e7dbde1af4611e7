import AppClient
public import DeviceConnection
import FamilyModel
public import Foundation
import SiteNames
import Synchronization

/// The access of the device's owner to a web page, by the guardians' rules and approvals.
///
/// An app has one controller for each page. Setting ``url`` asks the device once for each site. The
/// answers are in a cache that survives restarts and works without the device.
///
/// ```swift
/// let page = STWebpageController()
/// page.url = URL(string: "https://www.example.co.uk/")
/// if await page.isBlocked(), page.canAsk { try await page.ask(in: window) }
/// for await isBlocked in await page.urlIsBlockedUpdates { view.isHidden = isBlocked }
/// ```
///
/// A page is blocked as long as its access is unknown: before the device's first answer about the site,
/// and without a device. While a guardian's consent to the app is withdrawn, every site is blocked. A
/// device that has not read the family's rules gives no answer. Without a family, and for an adult,
/// every site is open.
///
/// The class draws nothing: the app hides a blocked page. Objects may be used from any task at the same
/// time.
public final class STWebpageController: Sendable {
  private struct State {
    var url: URL?
    var page = WebPage.local
    var isShown = true
    var isPictureInPicture = false
    var isSuppressed = false

    /// The site whose time counts; `nil`: none.
    var countedSite: Site? {
      (isShown || isPictureInPicture) && !isSuppressed ? page.site : nil
    }
  }

  private static let pages = Atomic<UInt64>(0)
  private let number = STWebpageController.pages.add(1, ordering: .relaxed).newValue
  private let current = Mutex(State())

  /// Creates a controller without a page.
  public init() {}

  deinit { if current.withLock(\.countedSite) != nil { count(nil) } }

  /// The address of the page. Set it for each navigation, redirects included.
  ///
  /// Rules are about the site: the registrable domain of the address's host, or the host itself if it
  /// has none. An address without a host and with another scheme than HTTP is never blocked, nor is a
  /// file.
  public var url: URL? {
    get { current.withLock { $0.url } }
    set {
      let page = WebPage(newValue)
      change { ($0.url, $0.page) = (newValue, page) }
      guard let site = page.site, let session = try? AppSession.current(),
        session.access(to: site) == nil
      else { return }
      Task { await session.request([site]) }
    }
  }

  /// Whether the page is on the screen. `true` by default. The time of a hidden page does not count.
  ///
  /// An addition to Apple's API, whose controller is a view that knows its window.
  public var isShown: Bool {
    get { current.withLock { $0.isShown } }
    set { change { $0.isShown = newValue } }
  }

  /// Whether a video of the page is in a window of its own. The time of the page then counts although the
  /// page is hidden.
  public var urlIsPictureInPicture: Bool {
    get { current.withLock { $0.isPictureInPicture } }
    set { change { $0.isPictureInPicture = newValue } }
  }

  /// Whether the time of the page is left out of the guardians' report, for example in private browsing.
  ///
  /// `false` by default. The guardians' rules hold in either case.
  public var suppressUsageRecording: Bool {
    get { current.withLock { $0.isSuppressed } }
    set { change { $0.isSuppressed = newValue } }
  }

  private func change(_ body: (inout State) -> Void) {
    current.withLock { state in
      let before = state.countedSite
      body(&state)
      // Under the lock, so that the last change is also the last one that counts.
      if state.countedSite != before { count(state.countedSite) }
    }
  }

  private func count(_ site: Site?) { (try? AppSession.current())?.show(number, site) }

  private var page: WebPage { current.withLock { $0.page } }

  /// Whether the page may not be shown. The answer comes from memory, and never waits.
  public var urlIsBlocked: Bool {
    let page = page
    return page.isBlocked(access(to: page))
  }

  /// Whether the page may not be shown. Waits for the device's first answer about a site.
  ///
  /// An addition to Apple's API. The method waits for at most a second, and not for a device that is
  /// away: the page is then blocked.
  public func isBlocked() async -> Bool {
    let page = page
    guard let site = page.site, let session = try? AppSession.current() else {
      return page.isBlocked(nil)
    }
    return page.isBlocked(await session.access(requesting: site))
  }

  /// Whether the page is blocked until a guardian approves its site.
  ///
  /// An addition to Apple's API.
  public var canAsk: Bool { access(to: page) == .ask }

  /// Whether the device has answered about the page's site. The page is blocked until then.
  ///
  /// The app can check the page again later. The value is `true` for an address without a site, and while a
  /// guardian's consent to the app is withdrawn.
  ///
  /// An addition to Apple's API.
  public var hasAnswer: Bool {
    let page = page
    guard page.site != nil, access(to: page) == nil else { return true }
    return (try? AppSession.current())?.isWebClosed ?? false
  }

  private func access(to page: WebPage) -> WebAccess? {
    guard let site = page.site, let session = try? AppSession.current() else { return nil }
    return session.access(to: site)
  }

  /// The value of ``urlIsBlocked`` now, and after each change of the device's answers.
  ///
  /// An addition to Apple's API, whose property supports key-value observing. Any number of loops may
  /// run. Without a device the sequence has one element.
  public var urlIsBlockedUpdates: some AsyncSequence<Bool, Never> {
    get async {
      let (stream, continuation) = AsyncStream<Bool>.makeStream(
        bufferingPolicy: .bufferingNewest(1))
      let changes =
        await (try? AppSession.current())?.webChanges() ?? AsyncStream { $0.finish() }
      let task = Task {
        var last = urlIsBlocked
        continuation.yield(last)
        for await _ in changes {
          let isBlocked = urlIsBlocked
          if isBlocked != last { continuation.yield(isBlocked) }
          last = isBlocked
        }
        continuation.finish()
      }
      continuation.onTermination = { _ in task.cancel() }
      return stream
    }
  }

  /// Asks the guardians to open the page's site. The device first prompts the child.
  ///
  /// An addition to Apple's API, where the controller's own view has a button. The method returns when
  /// the prompts have ended. An approval opens the site on all devices of the child, until its end or
  /// until a guardian withdraws it; ``urlIsBlockedUpdates`` reports both. The answer does not arrive in
  /// the responses of PermissionKit. The call registers the app: the device may launch it for the
  /// answer.
  ///
  /// - Parameters:
  ///   - duration: How long an approval holds, from a second to ten years; `nil` (the default): until a
  ///     guardian withdraws it.
  ///   - anchor: The window in which the app asks. The prompts show its name.
  /// - Returns: `false` if the child cancelled, and without a family. Otherwise a question about the site is open, or was
  ///   answered on the device.
  /// - Throws: `DeviceProblem`, for example with the number 450 where no rule makes the person ask, or
  ///   `CancellationError`.
  @discardableResult
  public func ask(
    for duration: Duration? = nil, in anchor: some PresentationAnchor
  ) async throws -> Bool {
    guard let site = page.site else { throw DeviceProblem(.siteNotAsked) }
    var approve = Choice.approve
    if let duration { approve.end = .after(Milliseconds(duration)) }
    let question = Question(
      id: QuestionID(UUID()), topic: .browse(site), choices: [approve, .decline])
    do {
      switch try await AppSession.current().ask(question, .choose, in: anchor.shortWindowName) {
      case .sent, .answeredInPerson, .alreadyAsked: return true
      case .refused(let problem): throw problem
      case .cancelled, .answeredByDefault, .acknowledged: return false
      }
    } catch let error as CancellationError {
      throw error
    } catch {
      throw DeviceProblem(reason: error)
    }
  }
}
