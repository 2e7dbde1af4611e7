public import FamilyModel

extension AppMachine {
  /// An input of the machine.
  public enum Input: Sendable {
    /// The connection to the device is up.
    case connected
    /// The connection to the device is down.
    case disconnected
    /// The device sent a message.
    case reply(AppReply)
    /// The app asks a question, in the window with this name.
    case ask(Question, AskManner, window: String = "")
    /// The app asks for the age range between these gates or, without gates, for the region's
    /// duties, in the window with this name.
    case askAge(UInt64, gates: [Int32]?, window: String = "")
    /// The app asks for its own age rating.
    case askRating(UInt64)
    /// The app's code no longer waits for the outcome of its question. A response is still
    /// delivered.
    case abandonAsk(QuestionID)
    /// The app's code no longer waits for the answer to the age request with this number.
    case abandonAge(UInt64)
    /// The app permits the device to launch it.
    case register
    /// The app's code names handles, in canonical form.
    case name([Handle])
    /// The app's code names sites or, without any, requests whether rules restrict the web.
    case sites([Site])
    /// The app has shown pages for this time, until this moment.
    case useWeb(ShownPages, at: Instant)
    /// The app's code deletes a part of what the app has reported about the web.
    case deleteWebUse(WebHistoryPart, at: Instant)
    /// The app's code replaces the managed settings of its store with this name.
    case manage(String, ManagedSettings)
    /// The app's code watches an interval of an activity, whose schedule has this description.
    case watch(Activity, schedule: [UInt8])
    /// The app's code ends the watch of the activity with this name.
    case unwatch(String)
    /// The app's code handles the moments of activities from now on, which also registers the app.
    case handleMoments
    /// The app's code requests the setting for sensitive pictures.
    case safety
    /// The app's code wants a picture checked. No other picture has the number.
    case analyze(UInt64, Avatar)
    /// The app's code no longer waits for the verdict about the picture with this number.
    case abandonPicture(UInt64)
    /// The app subscribes to the responses about this kind of topic, which also registers it.
    case subscribe(Topic.Kind)
    /// The app's code has handled the response at this position.
    case consumed(UInt64)
  }
}
