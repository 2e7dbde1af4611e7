import ArgumentParser
import FamilyCore
import FamilyModel
import Foundation
import RelayClient
import TextTable

/// The commands that change a child's list of contacts.
struct ChangeContact: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "contact", abstract: "Add contacts to a child's list, or remove them.",
    subcommands: [Add.self, Remove.self, Import.self])

  /// The options that name one contact.
  struct Target: ParsableArguments {
    @OptionGroup var child: ChildOption
    @Option(help: "The handle's kind.") var kind: KindArgument
    @Argument(help: "The phone number, e-mail address or user name.") var value: String
    @OptionGroup var guardian: GuardianOptions
  }

  struct Add: ExplainedCommand {
    static let configuration = CommandConfiguration(
      abstract: "Add a handle to a child's list of contacts, or name a contact.")
    @OptionGroup var target: Target
    @Option(help: "The contact's name, for the family's screens. Apps never see it.")
    var name: String?

    func perform() throws {
      let handle = Handle(target.value, target.kind.kind)
      try Content.contactName(handle, name ?? "").validateContact()
      var relay = try target.guardian.connect()
      let view = FamilyView(try relay.machine())
      let child = try view.child(target.child.name)
      let isContact = view.reasons(handle, child).contains(.contact)
      try relay.add(handle, name, to: view.conversation(child), of: child)
      let outcome = isContact ? "is already on" : "is now on"
      let named = name.map { " as \($0)" } ?? ""
      print(
        "\(target.value) \(outcome) \(child.displayName)'s list of contacts\(named).".printable)
    }
  }

  struct Remove: ExplainedCommand {
    static let configuration = CommandConfiguration(
      abstract: "Remove a handle from a child's list of contacts.")
    @OptionGroup var target: Target

    func perform() throws {
      let handle = Handle(target.value, target.kind.kind)
      try handle.validate()
      var relay = try target.guardian.connect()
      let view = FamilyView(try relay.machine())
      let child = try view.child(target.child.name)
      let reasons = view.reasons(handle, child)
      let list = "\(child.displayName)'s list of contacts"
      guard reasons.contains(.contact) else {
        throw ControlError(
          "'\(target.value)' is not on \(list). "
            .appending(
              reasons.isEmpty
                ? view.knownHandlesHint(child)
                : "A guardian approved the handle; `relayctl withdraw` withdraws the approval."
            ).printable)
      }
      try relay.send(.changeContact(child: child.id, .contact(handle, known: false)))
      let hint =
        reasons.count > 1
        ? " The handle stays known, because a guardian also approved it: see `relayctl withdraw`."
        : ""
      print("\(target.value) is no longer on \(list).\(hint)".printable)
    }
  }

  struct Import: ExplainedCommand {
    static let configuration = CommandConfiguration(
      abstract: "Add the contacts of a vCard file, with their names.",
      discussion: "Every address book exports vCard files (.vcf); versions 3.0 and 4.0 work. Phone "
        + "numbers and e-mail addresses become contacts. Importing a file again is safe.")
    @OptionGroup var child: ChildOption
    @Argument(help: "A vCard file with at most \(VCardFile.maximumContacts) contacts.")
    var file: String
    @Flag(help: "Skip lines that cannot be used. Without it, such a line stops the import.")
    var skipErrors = false
    @OptionGroup var guardian: GuardianOptions

    func perform() throws {
      guard let data = FileManager.default.contents(atPath: file) else {
        throw ControlError("Cannot read the file '\(file)'.")
      }
      let cards = try VCardFile(data)
      let errors = cards.errors.map { "\(file): \($0)".printable }
      guard cards.errors.isEmpty || skipErrors else {
        let advice =
          "Nothing was imported. Correct the lines, or import the others with --skip-errors."
        throw ControlError((errors + [advice]).joined(separator: "\n"))
      }
      for error in errors { print(error) }
      var relay = try guardian.connect()
      let view = FamilyView(try relay.machine())
      let child = try view.child(child.name)
      let conversation = view.conversation(child)
      var new = 0
      for contact in cards.contacts {
        let name = contact.name.isEmpty ? nil : contact.name
        if try relay.add(contact.handle, name, to: conversation, of: child) { new += 1 }
      }
      print(
        "Imported \(cards.contacts.count) contacts for \(child.displayName), \(new) of them new."
          .printable)
    }
  }
}

extension DeviceClient {
  /// Adds the handle to the child's contacts and names it, as far as either is missing.
  ///
  /// - Returns: Whether the handle was no contact before.
  @discardableResult
  fileprivate mutating func add(
    _ handle: Handle, _ name: String?, to conversation: Conversation, of child: Person
  ) throws -> Bool {
    let isContact = conversation.known.isContact(handle)
    if !isContact { try send(.changeContact(child: child.id, .contact(handle, known: true))) }
    if let name, conversation.name(of: handle) ?? "" != name {
      try send(.changeContact(child: child.id, .contactName(handle, name)))
    }
    return !isContact
  }
}
