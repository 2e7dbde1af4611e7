import Testing
import TextTable

@Suite struct TableTests {
  @Test("columns are as wide as their widest cell, and lines have no trailing spaces")
  func columns() {
    #expect(Table.render([["a", "bcd"], ["efgh", ""]]) == "a     bcd\nefgh")
    #expect(Table.render([]) == "")
  }

  @Test("a wide character has two columns, a joined or combined one those of its base")
  func wide() {
    #expect("山田".columns == 4)
    #expect("é".columns == 1 && "e\u{301}".columns == 1)
    #expect("👩‍👧".columns == 2 && "한글".columns == 4)
    #expect(Table.render([["山田", "x"], ["abcde", "y"]]) == "山田   x\nabcde  y")
  }

  @Test(
    "M6: text of an app or a child cannot control the reader's terminal",
    arguments: [
      ("a\u{1B}[2Jb", "a\u{FFFD}[2Jb"), ("a\nb", "a b"), ("a\u{2028}b", "a b"),
      ("a\u{202E}b", "a\u{FFFD}b"), ("a\u{9B}1mb", "a\u{FFFD}1mb"), ("a\u{7F}", "a\u{FFFD}"),
      ("a\r\nb", "a\u{FFFD} b"),
    ])
  func hostile(_ text: String, _ shown: String) { #expect(text.printable == shown) }
}
