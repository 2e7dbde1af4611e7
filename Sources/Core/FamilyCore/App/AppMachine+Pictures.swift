import FamilyModel

/// The setting for sensitive pictures, and the pictures that the app's code wants checked.
///
/// The setting is durable, so that a restarted app has it without its device. Each attachment requests
/// the setting again, and each connection the pictures in flight. A device that still checks a picture
/// ignores the repetition. A picture leaves the queue with its verdict, with a refusal, or with the end of
/// its call.
extension AppMachine {
  mutating func requestSafety() -> [Effect] {
    requestsSafety = true
    return requestSafetyAgain()
  }

  func requestSafetyAgain() -> [Effect] {
    requestsSafety && isConnected && isAttached ? [.send(.safety)] : []
  }

  mutating func apply(_ setting: CommunicationSafety) -> [Effect] {
    guard requestsSafety, safety != setting else { return [] }
    safety = setting
    return [.persist([.put(.safety(setting))]), .safetyChanged]
  }

  mutating func analyze(_ number: UInt64, _ picture: Avatar) -> [Effect] {
    do throws(Problem) {
      let requests = try pictures.add(number, picture)
      return isConnected ? requests.map { .send($0) } : []
    } catch { return [.analyzed(number, .failed(error))] }
  }

  /// Removes the picture; sends those that have room now.
  mutating func abandonPicture(_ number: UInt64) -> [Effect] {
    let requests = pictures.remove(number) ?? []
    return isConnected ? requests.map { .send($0) } : []
  }

  mutating func analyzed(_ number: UInt64, _ analysis: PictureAnalysis) -> [Effect] {
    // A repeated request may have two answers.
    guard let requests = pictures.remove(number) else { return [] }
    return [.analyzed(number, analysis)] + requests.map { .send($0) }
  }

  /// Sends the pictures in flight again, because requests or answers may be lost.
  func repeatPictures() -> [Effect] { pictures.inFlight.map { .send($0) } }

  /// Ends all pictures without a verdict.
  mutating func failPictures(_ problem: Problem) -> [Effect] {
    pictures.removeAll().map { .analyzed($0, .failed(problem)) }
  }
}
