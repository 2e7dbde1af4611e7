// The errors of a store name the device's problem.
@_exported public import DeviceConnection
