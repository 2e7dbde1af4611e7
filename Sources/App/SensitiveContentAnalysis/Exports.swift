// Every framework exports the same `DeviceProblem`, because an app may import several.
@_exported public import DeviceConnection
