/// Where a prompt is shown: it stands where Apple's API has a view controller or a window.
public protocol PresentationAnchor {}
