// Every framework exports the same `PresentationAnchor`, because an app may import several.
@_exported public import DeviceConnection
