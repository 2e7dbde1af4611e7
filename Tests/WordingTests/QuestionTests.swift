import FamilyModel
import Testing
import Wording

private let actions: [Actions] = [
  .audioCall, .beFollowed, .call, .chat, .communicate, .connect, .follow, .friend, .message,
  .videoCall,
]
private let ada = Subject(handle: Handle("ada.l", .custom), name: parts("Ada", "Lovelace"))
private let tomás = Subject(handle: Handle("+1 555 0100", .phoneNumber), name: parts("Tomás"))
private let stranger = Subject(handle: Handle("maria@example.com", .emailAddress))

private func asked(_ language: Language, _ people: [Subject], _ actions: Actions) -> String {
  Wording(language).question(
    child: "Emily", app: "Landmarks", topic: .communication(people: people, actions: actions))
}

@Suite struct QuestionTests {
  @Test("M6: each question names the child, the app and all people", arguments: Language.allCases)
  func complete(_ language: Language) {
    for action in actions {
      for people in [[ada], [tomás], [stranger], [ada, tomás], [ada, tomás, stranger]] {
        let sentence = asked(language, people, action)
        let names = people.map { $0.name.map(Wording(language).name) ?? $0.handle.value }
        for word in ["Emily", "Landmarks"] + names {
          #expect(sentence.ranges(of: word).count == 1, "\(word): \(sentence)")
        }
        #expect(!sentence.contains("$@") && !sentence.contains("question."), "\(sentence)")
        #expect(sentence.last == "." || sentence.last == "。", "\(sentence)")
      }
    }
  }

  @Test("Q6: each action has a sentence of its own", arguments: Language.allCases)
  func own(_ language: Language) {
    #expect(Set(actions.map { asked(language, [ada], $0) }).count == actions.count)
    #expect(Set(actions.map { asked(language, [ada, tomás], $0) }).count == actions.count)
  }

  @Test(
    "Q6: several actions use the sentence of a call or of communication",
    arguments: Language.allCases)
  func several(_ language: Language) {
    let communicate = asked(language, [ada], .communicate)
    #expect(asked(language, [ada], []) == communicate)
    #expect(asked(language, [ada], [.chat, .audioCall]) == communicate)
    #expect(asked(language, [ada], [.communicate, .call]) == communicate)
    #expect(asked(language, [ada], Actions(rawValue: 1 << 20)) == communicate)
    let call = asked(language, [ada], .call)
    #expect(asked(language, [ada], [.audioCall, .videoCall]) == call)
    #expect(asked(language, [ada], [.audioCall, .videoCall, .call]) == call)
  }

  @Test("Q6: the sentence agrees with the number of people")
  func agreement() {
    #expect(
      asked(.english, [ada], .friend)
        == "Emily would like to add Ada Lovelace as a friend in Landmarks.")
    #expect(
      asked(.english, [ada, tomás], .friend)
        == "Emily would like to add Ada Lovelace and Tomás as friends in Landmarks.")
    #expect(
      asked(.spanish, [ada], .beFollowed)
        == "A Emily le gustaría permitir que Ada Lovelace siga su perfil en Landmarks.")
    #expect(
      asked(.spanish, [ada, tomás], .beFollowed)
        == "A Emily le gustaría permitir que Ada Lovelace y Tomás sigan su perfil en Landmarks.")
    #expect(
      asked(.brazilianPortuguese, [ada, tomás], .beFollowed)
        == "Emily gostaria de permitir que Ada Lovelace e Tomás sigam seu perfil no app Landmarks.")
  }

  @Test(
    "Q6: the sentence about two people",
    arguments: [
      (.english, "Emily would like to chat with Ada Lovelace and Tomás in Landmarks."),
      (.french, "Emily aimerait discuter avec Ada Lovelace et Tomás dans Landmarks."),
      (.spanish, "A Emily le gustaría chatear con Ada Lovelace y Tomás en Landmarks."),
      (
        .brazilianPortuguese,
        "Emily gostaria de conversar com Ada Lovelace e Tomás no app Landmarks."
      ),
      (.japanese, "Emilyさんが「Landmarks」でAda Lovelaceさん、Tomásさんとチャットする許可を求めています。"),
      (.simplifiedChinese, "Emily想在“Landmarks”中与Ada Lovelace和Tomás聊天。"),
    ] as [(Language, String)])
  func exact(_ language: Language, _ sentence: String) {
    #expect(asked(language, [ada, tomás], .chat) == sentence)
  }

  @Test("Q6: Japanese adds an honorific to names, not to handles") func honorific() {
    #expect(
      asked(.japanese, [stranger], .message)
        == "Emilyさんが「Landmarks」でmaria@example.comにメッセージを送る許可を求めています。")
  }

  @Test(
    "Q5: an update's sentence names the app and the child, and quotes the app's description",
    arguments: Language.allCases)
  func update(_ language: Language) {
    let wording = Wording(language)
    let sentence = wording.question(
      child: "Emily", app: "Landmarks", topic: .significantUpdate(description: "Adds chat."))
    for word in ["Emily", "Landmarks", "Adds chat."] { #expect(sentence.contains(word)) }
    #expect(sentence.suffix(3).contains(where: "”»」".contains), "\(sentence)")
    let bare = wording.question(
      child: "Emily", app: "Landmarks", topic: .significantUpdate(description: " "))
    #expect(sentence.hasPrefix(bare.dropLast()))
  }

  @Test("Q5: the sentences about an update") func exactUpdate() {
    let topic = Topic.significantUpdate(description: "Adds chat.")
    #expect(
      Wording(.english).question(child: "Emily", app: "Landmarks", topic: topic)
        == "Landmarks has changed significantly, and Emily would like to keep using it. "
        + "The app describes the change as follows: “Adds chat.”")
    #expect(
      Wording(.simplifiedChinese).question(child: "Emily", app: "Landmarks", topic: topic)
        == "“Landmarks”有重大变更，Emily想继续使用。App对此次变更的说明：“Adds chat.”")
  }
}
