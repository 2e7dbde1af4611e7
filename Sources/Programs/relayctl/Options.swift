import ArgumentParser
import Credentials
import FamilyModel
import Foundation
import RelayClient

/// The options of the operator's commands, which read rosters and no conversation.
struct AdministratorOptions: ParsableArguments {
  @Option(help: "The folder with administrator.json, usually the relay's.")
  var directory: String

  func credential() throws -> AdministratorCredential {
    try AdministratorCredential.read(
      from: AdministratorCredential.file(in: URL(fileURLWithPath: directory)))
  }
}

/// The options of a guardian's commands.
struct GuardianOptions: ParsableArguments {
  @Option(
    name: .customLong("as"),
    help: .init("A guardian's credential file, written by `relayctl apply`.", valueName: "file"))
  var file: String

  /// Connects to the relay as this guardian's device.
  ///
  /// - Throws: `ControlError` unless the file is a guardian's credential.
  func connect() throws -> DeviceClient {
    let url = URL(fileURLWithPath: file)
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: file, isDirectory: &isFolder), isFolder.boolValue {
      throw ControlError("'\(file)' is a folder. Give --as a guardian's credential file.")
    }
    let credential: Credential
    do { credential = try Credential.read(from: url) } catch {
      guard (try? AdministratorCredential.read(from: url)) == nil else {
        throw ControlError(
          "'\(file)' is the administrator's credential, which reads no conversation. Give --as a "
            + "guardian's credential file, which `relayctl apply` wrote.")
      }
      throw error
    }
    guard credential.role.isGuardian else {
      throw ControlError(
        "'\(file)' belongs to \(credential.name), role \(credential.role). Give --as a guardian's "
          + "credential file.")
    }
    guard credential.isInFamily else {
      throw ControlError("'\(file)' belongs to no family. Give --as a guardian's credential file.")
    }
    return try DeviceClient(credential)
  }
}

extension GuardianOptions {
  /// The family as this guardian's device sees it now, for commands that only read.
  func view() throws -> FamilyView {
    var relay = try connect()
    return FamilyView(try relay.machine())
  }
}

/// The option that selects a child.
struct ChildOption: ParsableArguments {
  @Option(
    name: .customLong("child"),
    help: "The child's name or number. A family with one child needs no --child.")
  var name: String?
}

/// A value of an enumeration on the command line: the name of its case.
struct CaseArgument<Value: CaseIterable & Sendable>: ExpressibleByArgument {
  let value: Value

  init?(argument: String) {
    guard let value = Value.allCases.first(where: { "\($0)" == argument }) else { return nil }
    self.value = value
  }

  static var allValueStrings: [String] { Value.allCases.map { "\($0)" } }
  static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
}

/// A handle's kind as a command-line value.
enum KindArgument: String, ExpressibleByArgument, CaseIterable {
  case phone, email, custom, site, authorization

  init(_ kind: Handle.Kind) {
    switch kind {
    case .phoneNumber: self = .phone
    case .emailAddress: self = .email
    case .custom: self = .custom
    case .site: self = .site
    case .authorization: self = .authorization
    }
  }

  var kind: Handle.Kind {
    switch self {
    case .phone: .phoneNumber
    case .email: .emailAddress
    case .custom: .custom
    case .site: .site
    case .authorization: .authorization
    }
  }
}
