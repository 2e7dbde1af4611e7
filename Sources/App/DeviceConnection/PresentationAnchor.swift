/// The place where a prompt appears, in the place of Apple's view controllers and windows.
///
/// The device shows its prompts in its own terminal and ignores the anchor. An empty type is
/// enough:
///
/// ```swift
/// struct ChatWindow: PresentationAnchor {}
/// ```
public protocol PresentationAnchor {}
