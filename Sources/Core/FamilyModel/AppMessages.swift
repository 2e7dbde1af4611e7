/// A message from an app to its device.
public enum AppRequest: Hashable, Sendable {
  /// Opens the session. `applied` is the last app entry that the app applied; zero: none.
  case attach(app: AppID, applied: UInt64)
  /// Registers the app as a listener of `updates`. The device may then launch the app in the
  /// background for new app entries.
  case register
  /// Asks the guardians, and registers the app as `register` does. `AppReply.asked` answers when
  /// the child's dialog ends, which has no time limit. The prompts name the app's window; an empty
  /// name names none.
  case ask(Question, AskManner, window: String = "")
  /// Acknowledges all app entries up to this position. There is no reply.
  case acknowledge(UInt64)
  /// Closes the session because the app is suspended. There is no reply.
  case detach
  /// Requests the age range between these gates; `nil` requests the legal requirements of the
  /// region. `AppReply.age` repeats the number, which the app chooses. A prompt names the app's
  /// window; an empty name names none.
  case age(UInt64, gates: [Int32]?, window: String = "")
  /// Requests the app's own age rating. `AppReply.age` repeats the number, which the app chooses.
  case rating(UInt64)
  /// Reports that the app rejected a message of its device and changed nothing. There is no reply.
  case rejected(Problem)
  /// Requests a `pong`, which proves that the device runs.
  case ping
  /// Names handles that the app wants to know about, in canonical form. `AppReply.named` answers.
  case name([Handle])
  /// Requests the access to the sites that the app names, or without sites only whether rules restrict
  /// the web. `AppReply.sites` answers, and `AppReply.sitesChanged` reports each later change.
  case sites([Site])
  /// Replaces the managed settings of the app's store with this name. `AppReply.managed` answers.
  case manage(String, ManagedSettings)
  /// Watches the interval of an activity, in the place of the activity with this name.
  /// `AppReply.watched` answers.
  case watch(Activity)
  /// Ends the watch of the activity with this name. There is no reply.
  case unwatch(String)
  /// Requests the setting for sensitive pictures. `AppReply.safety` answers, and reports each later
  /// change.
  case safety
  /// Requests the check of a picture. `AppReply.analyzed` repeats the number, which the app chooses. A
  /// repeated request with the number of a running check joins that check.
  case analyze(UInt64, Avatar)
  /// Reports for how long the app has shown pages. `AppReply.webUsed` answers. The numbers of an app ascend,
  /// the device counts no number twice, and the app sends the next message after the answer.
  case useWeb(UInt64, ShownPages)
  /// Deletes a part of what the app has reported, in the order of `useWeb`.
  case deleteWebUse(UInt64, WebHistoryPart)
}

extension AppRequest {
  /// The requests that name the handles, within the limit of a message.
  public static func naming(_ handles: [Handle]) -> [AppRequest] {
    stride(from: 0, to: handles.count, by: Limits.namesInMessage).map { start in
      .name(Array(handles[start..<min(start + Limits.namesInMessage, handles.count)]))
    }
  }
}

extension AppRequest {
  /// The requests for the access to the sites, within the limit of a message; at least one.
  public static func requesting(_ sites: [Site]) -> [AppRequest] {
    stride(from: 0, to: max(1, sites.count), by: Limits.sitesInMessage).map { start in
      .sites(Array(sites[start..<min(start + Limits.sitesInMessage, sites.count)]))
    }
  }
}

/// The way in which a question starts on the child's device.
public enum AskManner: UInt8, Sendable {
  /// The child chooses: by message, in person, or not at all.
  case choose = 0
  /// The compose sheet opens at once.
  case byMessage = 1
  /// The passcode dialog opens at once.
  case inPerson = 2
  /// The guardians receive no question: an adult confirms that they have read about a significant
  /// update.
  case acknowledge = 3
}

/// A message from a device to an app.
public enum AppReply: Hashable, Sendable {
  /// The session is open. Entries after `acknowledged` follow, then `caughtUp`.
  case attached(acknowledged: UInt64)
  /// Replaces the app's state: `known` is the full set of known handles as of entry `position`.
  case reset(position: UInt64, known: [Handle])
  /// The family's next roster, with which the app verifies later entries.
  case roster(RosterProof)
  /// The evidence for the handles of the next `reset`.
  case evidence([Evidence])
  /// An app entry.
  case entry(AppEntry)
  /// All entries that existed at the attach have been sent.
  case caughtUp
  /// The result of an `ask`.
  case asked(QuestionID, AskOutcome)
  /// The device refused the request.
  case failed(Problem)
  /// The answer to the `AppRequest.age` with this number.
  case age(UInt64, AgeReply)
  /// The answer to a `ping`.
  case pong
  /// The app has named these handles. Those that are known precede this message in an app entry.
  case named([Handle])
  /// The answer to `AppRequest.sites`, and whether guardians' rules restrict the web for the person.
  case sites([SiteAccess], isRestricted: Bool)
  /// The answer to an earlier `AppRequest.sites` may differ now. The app requests the access again.
  case sitesChanged
  /// The device enforces the settings of the store with this name, or refuses them.
  case managed(String, Problem?)
  /// The device watches the interval with this number of an activity, or refuses it. `at` is the time by
  /// which the device judges intervals.
  case watched(String, UInt64, Problem?, at: Instant)
  /// The setting for sensitive pictures: the answer to `AppRequest.safety`, and each later change.
  case safety(CommunicationSafety)
  /// The answer to the `AppRequest.analyze` with this number.
  case analyzed(UInt64, PictureAnalysis)
  /// The number of the last message about the use of the web that the device has stored.
  case webUsed(UInt64)
}

/// The result of the check of a picture.
public enum PictureAnalysis: Hashable, Sendable {
  /// The worker has decided.
  case checked(isSensitive: Bool)
  /// There is no verdict. An app treats the picture as a sensitive one.
  case failed(Problem)
}

/// The result of `ask` on the child's device.
public enum AskOutcome: Hashable, Sendable {
  /// The question is in the outbox. The device retries until the relay accepts it.
  case sent
  /// The child cancelled the dialog: no response follows.
  case cancelled
  /// An open question, with this id, already asks about the same people.
  case alreadyAsked(QuestionID)
  /// No guardian is asked: the default choice follows as the response.
  case answeredByDefault
  /// A guardian answered on this device with the passcode.
  case answeredInPerson(approved: Bool)
  /// The person confirmed that they have read about the update.
  case acknowledged
  /// The question is invalid or not allowed.
  case refused(Problem)
}

/// One item of a device's durable queue for one app. Positions count 1, 2, 3, … per app and device.
public struct AppEntry: Hashable, Sendable {
  /// The content of an app entry.
  public enum Body: Hashable, Sendable {
    /// A guardian answered a question. An approval makes the question's handles known.
    case response(Question, Choice)
    /// These handles become known.
    case known([Handle])
    /// These handles are no longer known.
    case forgotten([Handle])
    /// A guardian withdrew the consent to use the app.
    case consentWithdrawn
    /// A guardian gave the consent to use the app back.
    case consentGiven
    /// A moment of the activity with this name has come, in the interval with this number. `at` is the time
    /// by which the device judges intervals.
    case activity(String, UInt64, ActivityMoment, at: Instant)
  }
  /// The position in the app's queue, from 1.
  public var position: UInt64
  /// The content of the entry.
  public var body: Body
  /// The signed events behind the entry. Empty for a default response, which no guardian decided.
  public var evidence: [Evidence]
  /// Creates an entry at `position`.
  public init(position: UInt64, body: Body, evidence: [Evidence] = []) {
    self.position = position
    self.body = body
    self.evidence = evidence
  }
}
