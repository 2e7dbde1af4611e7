// `PermissionKit` and `DeclaredAgeRange` share this name: an app may import both.
@_exported public import DeviceConnection
