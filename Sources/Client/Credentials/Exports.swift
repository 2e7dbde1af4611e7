// Every module that reads credentials also protects its own files.
@_exported public import PrivateFiles
