import FamilyModel

/// The handles that the app's code names.
///
/// - named → `unconfirmed` → (the device confirms, after an entry with those that are known)
///   `named`.
///
/// A device that lost its store has no names, and resets the app, which then names its handles
/// again.
extension AppMachine {
  /// Names handles, in canonical form. Above the limit, further ones stay unknown.
  ///
  /// An unconfirmed name is sent again, because a busy device drops requests.
  mutating func name(_ handles: [Handle]) -> [Effect] {
    let open = handles.filter { handle in
      guard !named.contains(handle) else { return false }
      if named.count + unconfirmed.count < Limits.namedHandles { unconfirmed.insert(handle) }
      return unconfirmed.contains(handle)
    }
    return isConnected ? requestNames(open) : []
  }

  func requestNames(_ handles: [Handle]) -> [Effect] {
    AppRequest.naming(handles).map { .send($0) }
  }

  /// Records that the device knows these names. Another process of the app may have sent them.
  mutating func confirm(_ handles: [Handle]) -> [AppRecordChange] {
    handles.filter { handle in
      unconfirmed.remove(handle)
      return named.insert(handle)
    }.map { .put(.named($0)) }
  }

  /// Records the people of a response, whom the device has recorded as well.
  mutating func confirmPeople(of entry: AppEntry) -> [AppRecordChange] {
    guard case .response(let question, _) = entry.body else { return [] }
    return confirm(question.topic.handles.map(\.canonical))
  }

  /// Names all handles again, for a device that may have lost them.
  ///
  /// - Parameter known: The handles that the device reports, and therefore has.
  mutating func nameAgain(
    except known: [Handle]
  ) -> (changes: [AppRecordChange], requests: [Effect]) {
    let kept = HandleSet(known)
    let lost = named.sorted().filter { !kept.contains($0) }
    for handle in lost {
      named.remove(handle)
      unconfirmed.insert(handle)
    }
    return (lost.map { .remove(.named($0)) } + confirm(known), requestNames(lost))
  }
}
