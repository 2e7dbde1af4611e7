import FamilyCore
public import FamilyModel
import RelayWire

extension Event {
  /// The encoding of a stored event without its content.
  ///
  /// - Returns: `nil` if the event has no content, lost it before, or is of a kind that this version does
  ///   not know.
  public static func erasingContent(ofPayload payload: [UInt8]) -> [UInt8]? {
    (try? decode(payload))?.erasingContent(digest: KeyVault.digest)?.encode()
  }
}
