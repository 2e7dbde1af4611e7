/// A site of the web as rules and reports name it: a registrable domain such as `example.co.uk`, or the
/// host of an address without one.
///
/// The name is canonical: lowercase ASCII, with international names in their ASCII form. The machines
/// compare names byte by byte, so everybody who makes a site canonicalizes first.
public struct Site: Hashable, Comparable, Sendable {
  /// The canonical name.
  public let name: String

  /// The site with a canonical name; `nil` for any other text.
  public init?(_ name: String) {
    guard 1...Limits.siteBytes ~= name.utf8.count, name.utf8.allSatisfy(Self.isAllowed) else {
      return nil
    }
    self.name = name
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: ":"),
      UInt8(ascii: "["), UInt8(ascii: "]"):
      true
    default: false
    }
  }

  public static func < (a: Self, b: Self) -> Bool { a.name < b.name }
}
