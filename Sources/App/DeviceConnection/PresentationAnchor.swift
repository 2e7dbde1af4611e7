import FamilyModel

/// The window in which a prompt appears, in the place of Apple's view controllers and windows.
///
/// The device shows its prompts in its own terminal, below the name of the window. An empty type is
/// enough for an app with one window:
///
/// ```swift
/// struct ChatWindow: PresentationAnchor {
///   let windowName = "Chats"
/// }
/// ```
public protocol PresentationAnchor {
  /// The name of the window as people know it; empty (the default): none.
  ///
  /// The library shortens a name to 128 bytes of UTF-8.
  var windowName: String { get }
}

extension PresentationAnchor {
  /// Empty: the app has one window.
  public var windowName: String { "" }

  /// The name of the window in at most ``Limits/windowBytes`` bytes.
  package var shortWindowName: String {
    var name = ""
    var bytes = 0
    for character in windowName {
      bytes += character.utf8.count
      guard bytes <= Limits.windowBytes else { break }
      name.append(character)
    }
    return name
  }
}

/// A window by its name.
package struct NamedWindow: PresentationAnchor, Hashable, Sendable {
  package let windowName: String
  package init(_ name: String) { windowName = name }
}
