public import FamilyModel

extension AppMachine {
  /// An effect. The shell carries out the effects of a step in order.
  public enum Effect: Hashable, Sendable {
    /// Make these changes durable in one transaction.
    case persist([AppRecordChange])
    /// Send a request to the device.
    case send(AppRequest)
    /// Deliver the response at this position to the app's code.
    case deliver(UInt64, Question, Choice)
    /// ``AppMachine/isConsentWithdrawn`` has changed.
    case consentChanged
    /// Report the outcome of an `ask`.
    case asked(QuestionID, AskOutcome)
    /// Report the answer to the age request with this number.
    case age(UInt64, AgeReply)
    /// The app has received every entry that waited on the device.
    case caughtUp
    /// ``AppMachine/named``, ``AppMachine/unconfirmed`` or ``AppMachine/isAnswered`` has changed.
    case namesChanged
    /// ``AppMachine/visibleSites`` or ``AppMachine/isWebRestricted`` has changed.
    case sitesChanged
    /// A guardian answered the question for the app's authorization.
    case authorized(QuestionID, Bool)
    /// The device enforces the settings of the app's store with this name, or refuses them.
    case managed(String, Problem?)
    /// The device watches the activity with this name, or refuses it.
    case watched(String, Problem?)
    /// Report a moment of an activity, in the interval with this number, to the app's code. The code
    /// consumes the entry at this position; `nil`: there is no entry. `at` is the device's time.
    case moment(UInt64?, String, UInt64, ActivityMoment, at: Instant)
    /// ``AppMachine/safety`` has changed.
    case safetyChanged
    /// Report the verdict about the picture with this number.
    case analyzed(UInt64, PictureAnalysis)
    /// The app rejected a message of the device. The message changed nothing.
    case rejected(Problem)
  }
}
