// Both frameworks export the same `PresentationAnchor`, because an app may import both.
@_exported public import DeviceConnection
