import FamilyModel
public import Foundation

/// What a question is about.
public protocol QuestionTopic: Codable, Identifiable, Sendable {}

/// The people that a child wants to communicate with, and how.
public struct CommunicationTopic: QuestionTopic, Hashable {
  /// Ways to communicate. They choose the words that a guardian reads.
  public enum Action: String, Hashable, Codable, Sendable, CaseIterable {
    case audioCall, beFollowed, call, chat, communicate, connect, follow, friend, message, videoCall
  }

  /// A person, with all that the app knows: more makes a better decision.
  public struct PersonInformation: Hashable, Codable, Sendable {
    /// How the person is reached.
    public var handle: CommunicationHandle
    /// The person's name.
    public var nameComponents: PersonNameComponents?
    /// The person's picture.
    public var avatarImage: AvatarImage?
    /// A person with this handle.
    public init(
      handle: CommunicationHandle, nameComponents: PersonNameComponents? = nil,
      avatarImage: AvatarImage? = nil
    ) {
      self.handle = handle
      self.nameComponents = nameComponents
      self.avatarImage = avatarImage
    }
  }

  /// Identifies the topic.
  public let id: UUID
  /// The people.
  public var personInformation: [PersonInformation]
  /// How the child means to communicate.
  public var actions: Set<Action>

  /// A topic about these people.
  public init(personInformation: [PersonInformation]) {
    self.init(personInformation: personInformation, actions: [.communicate])
  }

  /// A topic about these people and actions.
  public init(personInformation: [PersonInformation], actions: Set<Action>) {
    id = UUID()
    self.personInformation = personInformation
    self.actions = actions
  }
}

/// A person of a topic.
public typealias PersonInformation = CommunicationTopic.PersonInformation

extension CommunicationTopic.Action {
  var model: Actions {
    switch self {
    case .audioCall: .audioCall
    case .beFollowed: .beFollowed
    case .call: .call
    case .chat: .chat
    case .communicate: .communicate
    case .connect: .connect
    case .follow: .follow
    case .friend: .friend
    case .message: .message
    case .videoCall: .videoCall
    }
  }
}

extension CommunicationTopic {
  var model: Topic {
    .communication(
      people: personInformation.map(\.model),
      actions: actions.reduce(into: Actions()) { $0.insert($1.model) })
  }

  init?(_ topic: Topic) {
    guard case .communication(let people, let actions) = topic else { return nil }
    self.init(
      personInformation: people.map(PersonInformation.init),
      actions: Set(Action.allCases.filter { actions.contains($0.model) }))
  }
}

extension PersonInformation {
  var model: Subject {
    var name: NameParts?
    if let components = nameComponents {
      var parts = NameParts()
      parts.prefix = components.namePrefix ?? ""
      parts.given = components.givenName ?? ""
      parts.middle = components.middleName ?? ""
      parts.family = components.familyName ?? ""
      parts.suffix = components.nameSuffix ?? ""
      parts.nickname = components.nickname ?? ""
      name = parts
    }
    return Subject(
      handle: handle.model, name: name,
      avatar: avatarImage.map { Avatar(mediaType: $0.mediaType, bytes: $0.bytes) })
  }

  init(_ subject: Subject) {
    self.init(
      handle: CommunicationHandle(subject.handle),
      avatarImage: subject.avatar.map { AvatarImage(mediaType: $0.mediaType, bytes: $0.bytes) })
    guard let name = subject.name else { return }
    var components = PersonNameComponents()
    func part(_ text: String) -> String? { text.isEmpty ? nil : text }
    components.namePrefix = part(name.prefix)
    components.givenName = part(name.given)
    components.middleName = part(name.middle)
    components.familyName = part(name.family)
    components.nameSuffix = part(name.suffix)
    components.nickname = part(name.nickname)
    nameComponents = components
  }
}
