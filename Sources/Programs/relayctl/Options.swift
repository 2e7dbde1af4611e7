import ArgumentParser
import Credentials
import FamilyModel
import Foundation
import RelayClient

/// What the operator's commands take: families, members and devices, and no conversation.
struct AdministratorOptions: ParsableArguments {
  @Option(help: "The relay's folder, or another with its administrator.json.")
  var directory: String

  func credential() throws -> AdministratorCredential {
    try AdministratorCredential.read(
      from: AdministratorCredential.file(in: URL(fileURLWithPath: directory)))
  }
}

/// What a guardian's commands take.
struct GuardianOptions: ParsableArguments {
  @Option(
    name: .customLong("as"),
    help: .init("A guardian's credential file, which `relayctl apply` wrote.", valueName: "file"))
  var file: String

  /// A connection as this guardian's device.
  func connect() throws -> DeviceClient {
    let url = URL(fileURLWithPath: file)
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: file, isDirectory: &isFolder), isFolder.boolValue {
      throw ControlError("\(file) is a folder: --as takes one file in it, a guardian's.")
    }
    let credential: Credential
    do { credential = try Credential.read(from: url) } catch {
      guard (try? AdministratorCredential.read(from: url)) == nil else {
        throw ControlError(
          "\(file) is the administrator's credential, which sees no conversation. --as takes a "
            + "guardian's, which `relayctl apply` wrote.")
      }
      throw error
    }
    guard credential.role.isGuardian else {
      throw ControlError(
        "\(file) is \(credential.name)'s (\(credential.role)). --as takes a guardian's credential.")
    }
    guard credential.isInFamily else { throw ControlError("\(file) is in no family group.") }
    return try DeviceClient(credential)
  }
}

extension GuardianOptions {
  /// The family as this guardian sees it now, for who only looks.
  func view() throws -> FamilyView {
    var relay = try connect()
    return FamilyView(try relay.machine())
  }
}

/// Whose conversation or settings.
struct ChildOption: ParsableArguments {
  @Option(
    name: .customLong("child"),
    help: "The child's name or number; not needed where there is one child.")
  var name: String?
}

/// The kinds of handles, as they are typed.
enum KindArgument: String, ExpressibleByArgument, CaseIterable {
  case phone, email, custom

  init(_ kind: Handle.Kind) {
    switch kind {
    case .phoneNumber: self = .phone
    case .emailAddress: self = .email
    case .custom: self = .custom
    }
  }

  var kind: Handle.Kind {
    switch self {
    case .phone: .phoneNumber
    case .email: .emailAddress
    case .custom: .custom
    }
  }
}
