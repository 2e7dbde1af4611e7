import PermissionKit

/// A conversation with other users of the app.
struct Chat {
  let participants: Set<CommunicationHandle>
  let preview: String

  /// The preview, or `nil` while a participant is unknown.
  var visiblePreview: String? {
    get async {
      let known = await CommunicationLimits.current.knownHandles(in: participants)
      return known.isSuperset(of: participants) ? preview : nil
    }
  }
}
