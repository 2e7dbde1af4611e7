import FamilyModel
public import Foundation

/// The subject of a question: ``CommunicationTopic`` or ``SignificantAppUpdateTopic``.
///
/// Guardians' devices display these two types. Asking about any other type throws
/// ``AskError/invalidQuestion``.
public protocol QuestionTopic: Codable, Identifiable, Sendable {}

/// The people with whom a child wants to communicate, and the ways to communicate.
public struct CommunicationTopic: QuestionTopic, Hashable {
  /// Ways to communicate. The actions of a topic choose the wording that a guardian reads.
  public enum Action: String, Hashable, Codable, Sendable, CaseIterable {
    /// Call the people with sound alone.
    case audioCall
    /// Let the people follow the child.
    case beFollowed
    /// Call the people.
    case call
    /// Chat with the people.
    case chat
    /// Communicate in any way. This is the default.
    case communicate
    /// Connect with the people.
    case connect
    /// Follow the people.
    case follow
    /// Become friends with the people.
    case friend
    /// Send messages to the people.
    case message
    /// Call the people with video.
    case videoCall
  }

  /// A person as the guardian sees the person: the handle, the name and the picture.
  ///
  /// Pass everything that the app knows, because guardians decide by this information.
  public struct PersonInformation: Hashable, Codable, Sendable {
    /// The handle that an approval makes known.
    public var handle: CommunicationHandle
    /// The person's name, with at most 256 bytes of UTF-8 in each part. The child may edit the
    /// name.
    public var nameComponents: PersonNameComponents?
    /// The person's picture. Devices blur the picture until a content check finds it clean.
    public var avatarImage: AvatarImage?
    /// Creates a person from a handle and optional details.
    public init(
      handle: CommunicationHandle, nameComponents: PersonNameComponents? = nil,
      avatarImage: AvatarImage? = nil
    ) {
      self.handle = handle
      self.nameComponents = nameComponents
      self.avatarImage = avatarImage
    }
  }

  /// A random identifier. The topic of a response has a new one: match responses by their question.
  public let id: UUID
  /// The people, 1 to 32.
  public var personInformation: [PersonInformation]
  /// The ways to communicate.
  public var actions: Set<Action>

  /// Creates a topic with the action ``Action/communicate``.
  public init(personInformation: [PersonInformation]) {
    self.init(personInformation: personInformation, actions: [.communicate])
  }

  /// Creates a topic with the given actions.
  public init(personInformation: [PersonInformation], actions: Set<Action>) {
    id = UUID()
    self.personInformation = personInformation
    self.actions = actions
  }
}

/// A short name for ``CommunicationTopic/PersonInformation``, as in Apple's API.
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
