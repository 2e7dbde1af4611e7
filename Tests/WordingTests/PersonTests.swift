import FamilyModel
import Testing
import Wording

func parts(
  _ given: String = "", _ family: String = "", prefix: String = "", middle: String = "",
  suffix: String = "", nickname: String = ""
) -> NameParts {
  var parts = NameParts()
  (parts.given, parts.family, parts.prefix) = (given, family, prefix)
  (parts.middle, parts.suffix, parts.nickname) = (middle, suffix, nickname)
  return parts
}

@Suite struct PersonTests {
  private let handle = Handle("ada.l", .custom)

  @Test("Q3: a person's text is the name and, in parentheses, the handle")
  func person() {
    let ada = Subject(handle: handle, name: parts("Ada", "Lovelace"))
    for language in Language.allCases {
      let wide = language == .japanese || language == .simplifiedChinese
      let expected = wide ? "Ada Lovelace（ada.l）" : "Ada Lovelace (ada.l)"
      #expect(Wording(language).person(ada) == expected)
    }
  }

  @Test("Q3: without a visible name, a person's text is the handle", arguments: Language.allCases)
  func nameless(_ language: Language) {
    let wording = Wording(language)
    #expect(wording.person(Subject(handle: handle)) == "ada.l")
    #expect(wording.person(Subject(handle: handle, name: NameParts())) == "ada.l")
    #expect(wording.person(Subject(handle: handle, name: parts(" \u{200B}\n"))) == "ada.l")
  }

  @Test("Q3: shows all parts of the name")
  func whole() {
    let wording = Wording(.english)
    let ada = parts(
      "Ada", "Lovelace", prefix: "Dr.", middle: "King", suffix: "Jr.", nickname: "Addie")
    #expect(wording.name(ada) == "Dr. Ada King Lovelace Jr.")
    #expect(
      wording.person(Subject(handle: handle, name: ada))
        == "Dr. Ada King Lovelace Jr. “Addie” (ada.l)")
    let nick = parts(nickname: "Addie")
    #expect(wording.name(nick) == "Addie")
    #expect(wording.person(Subject(handle: handle, name: nick)) == "Addie (ada.l)")
    #expect(
      Wording(.french).person(Subject(handle: handle, name: parts("Ada", nickname: "Addie")))
        == "Ada «\u{A0}Addie\u{A0}» (ada.l)")
  }

  @Test("Q3: a name's parts follow the order of its script")
  func order() {
    #expect(Wording(.japanese).name(parts("太郎", "山田")) == "山田 太郎")
    #expect(Wording(.japanese).name(parts("さくら", "佐々木", suffix: "様")) == "佐々木 さくら 様")
    #expect(Wording(.japanese).name(parts("エイダ", "ラブレス")) == "エイダ・ラブレス")
    #expect(Wording(.japanese).name(parts("Ada", "Lovelace")) == "Ada Lovelace")
    #expect(Wording(.simplifiedChinese).name(parts("小明", "王")) == "王小明")
    #expect(Wording(.simplifiedChinese).name(parts("小明", "王", suffix: "先生")) == "王小明先生")
    #expect(Wording(.simplifiedChinese).name(parts("Ada", "Lovelace")) == "Ada Lovelace")
    #expect(Wording(.english).name(parts("小明", "王")) == "王小明")
    #expect(Wording(.english).name(parts("さくら", "佐々木")) == "佐々木 さくら")
    #expect(Wording(.english).name(parts("철수", "김")) == "김철수")
  }

  @Test(
    "Q6: lists names with the language's separators",
    arguments: [
      (.english, "Ada, Tomás and Iris", "Ada and Iris"),
      (.french, "Ada, Tomás et Iris", "Ada et Iris"),
      (.spanish, "Ada, Tomás e Iris", "Ada e Iris"),
      (.brazilianPortuguese, "Ada, Tomás e Iris", "Ada e Iris"),
      (.japanese, "Ada、Tomás、Iris", "Ada、Iris"),
      (.simplifiedChinese, "Ada、Tomás和Iris", "Ada和Iris"),
    ] as [(Language, String, String)])
  func list(_ language: Language, _ three: String, _ two: String) {
    let wording = Wording(language)
    #expect(wording.list(["Ada", "Tomás", "Iris"]) == three)
    #expect(wording.list(["Ada", "Iris"]) == two)
    #expect(wording.list(["Ada"]) == "Ada")
    #expect(wording.list([]) == "")
    #expect(
      wording.list(["Ada", "שלום"]).unicodeScalars.allSatisfy {
        $0.value < 0x2000 || $0.value > 0x206F
      })
  }
}
