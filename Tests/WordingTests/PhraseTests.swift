import Testing
import Wording

@Suite struct PhraseTests {
  @Test(
    "R5: the child's notice of a decision",
    arguments: [
      (.english, "Rosa answered your request: “Approve”."),
      (.french, "Rosa a répondu à votre demande\u{A0}: «\u{A0}Approuver\u{A0}»."),
      (.spanish, "Rosa respondió a tu solicitud: “Aprobar”."),
      (.brazilianPortuguese, "Rosa respondeu ao seu pedido: “Aprovar”."),
      (.japanese, "Rosaさんがあなたのリクエストに「承認」と回答しました。"),
      (.simplifiedChinese, "Rosa回复了你的请求：“批准”。"),
    ] as [(Language, String)])
  func decided(_ language: Language, _ sentence: String) {
    let wording = Wording(language)
    #expect(wording(.decidedNotice, "Rosa", wording(.approve)) == sentence)
  }

  @Test(
    "A1: the child's prompt",
    arguments: [
      (
        .english,
        "You need permission from a parent or guardian to communicate with Ada in Landmarks."
      ),
      (
        .french,
        "Vous avez besoin de l’autorisation d’un parent ou d’un tuteur pour communiquer avec Ada"
          + " dans Landmarks."
      ),
      (
        .spanish,
        "Necesitas el permiso de tus padres o tutores para comunicarte con Ada en Landmarks."
      ),
      (
        .brazilianPortuguese,
        "Você precisa da permissão dos pais ou responsáveis para se comunicar com Ada no app"
          + " Landmarks."
      ),
      (.japanese, "「Landmarks」でAdaとやり取りするには、保護者の許可が必要です。"),
      (.simplifiedChinese, "你需要获得家长或监护人的许可，才能在“Landmarks”中与Ada沟通。"),
    ] as [(Language, String)])
  func prompt(_ language: Language, _ sentence: String) {
    #expect(Wording(language)(.permissionPrompt, "Landmarks", "Ada") == sentence)
  }

  @Test("A4: one second has a singular text") func seconds() {
    #expect(Wording(.english)(.tryAgainIn, "60") == "Try again in 60 seconds.")
    #expect(Wording(.english)(.tryAgainIn, "1") == "Try again in 1 second.")
    #expect(Wording(.french)(.tryAgainIn, "1") == "Réessayez dans 1 seconde.")
    #expect(Wording(.japanese)(.tryAgainIn, "1") == "1秒後にもう一度お試しください。")
  }

  @Test("Q6: each phrase contains all its arguments", arguments: Language.allCases)
  func arguments(_ language: Language) {
    let two: Set<Phrase> = [
      .permissionPrompt, .decidedNotice, .decidedLine, .alreadyAnswered, .withdrawnNotice,
      .consentGivenNotice,
      .updatePrompt, .sitePrompt, .updateNotice, .inPersonLine, .picture, .birthdateSet, .agePrompt,
      .ageSharedNotice, .ageBetween, .explainKnown, .explainUnknown, .ruleApproved,
      .ruleApprovalEnded, .ruleDeclined,
      .ruleWithdrawn, .ruleContact, .ruleContactRemoved, .ruleConsentWithdrawn,
      .deviceAdded, .deviceRemoved, .onboardLeft,
      .choiceTitle, .ratingRaised, .ratingsRaised, .appOnDevice,
    ]
    let one: Set<Phrase> = [
      .composeTo, .addName, .alreadyAsked, .updateAlreadyAsked, .siteAlreadyAsked, .inWindow,
      .authorizationAlreadyAsked, .authorizationPrompt, .tryAgainIn, .reminderLine,
      .cancelledLine, .newerLine, .newMessage,
      .contactsAdded, .contactsRemoved, .limitsOn, .limitsOff, .childAdded, .youAre, .chooseNumber,
      .notDone, .ageUpTo, .ageFrom, .unknownCommand, .chooseRequest, .notFound, .joinInstruction,
      .deviceJoins, .devices, .until, .ruleNotAHandle, .ruleWaiting, .ruleExpired, .ruleCancelled,
      .nearOtherApp, .nearOther, .changesAt, .unreadNotifications, .ageSetting, .ageNone, .ageSince,
      .ageUntil, .ageSandbox, .appsTitle, .appsNone, .webTitle, .webNone,
      .nameTaken, .organizerStays, .memberRemoved, .onboardTitle, .onboardBirthdate, .cannotOpen,
      .invalidBirthdate, .onboardSharing, .onboardDevice, .onboardDone,
    ]
    for phrase in Phrase.allCases {
      let text = Wording(language)(phrase, "‹1›", "‹2›")
      #expect(text.contains("‹1›") == (two.contains(phrase) || one.contains(phrase)), "\(text)")
      #expect(text.contains("‹2›") == two.contains(phrase), "\(text)")
      #expect(!text.contains("%"), "\(text)")
    }
  }
}
