import FamilyModel
import SiteNames
import Testing

@Suite struct SiteNamesTests {
  @Test(
    "S5: a host belongs to its registrable domain, in ASCII and lower case",
    arguments: [
      ("example.com", "example.com"), ("www.Example.COM", "example.com"),
      ("a.b.example.co.uk", "example.co.uk"), ("example.com.", "example.com"),
      ("B\u{fc}cher.example", "xn--bcher-kva.example"),
      ("www.bu\u{308}cher.example", "xn--bcher-kva.example"),
      ("fa\u{df}.example", "xn--fa-hia.example"), ("\u{FF45}xample.com", "example.com"),
      // A project of its own below a suffix that is not of the registry.
      ("anna.github.io", "anna.github.io"), ("x.anna.github.io", "anna.github.io"),
      ("github.io", "github.io"), ("co.uk", "co.uk"), ("localhost", "localhost"),
      ("192.168.0.7", "192.168.0.7"), ("[2001:DB8::1]", "[2001:db8::1]"),
      // Browsers read these spellings of addresses as well.
      ("2130706433", "127.0.0.1"), ("0x7f.1", "127.0.0.1"), ("0300.0250.7", "192.168.0.7"),
      ("192.168.0.0x7", "192.168.0.7"), ("192.168.0.7.", "192.168.0.7"),
      ("[2001:db8:0:0::0001]", "[2001:db8::1]"), ("[::ffff:192.168.0.7]", "192.168.0.7"),
      ("[::ffff:c0a8:7]", "192.168.0.7"), ("0x7f.example", "0x7f.example"),
    ])
  func sites(host: String, name: String) { #expect(Site(host: host)?.name == name) }

  @Test(
    "S5: a text that is no host has no site",
    arguments: [
      "", ".", "a b.example", "http://example.com", "example.com/x", "example.com:80", "a..b",
      "[::1", "[x]", "[::1%lo]", "[1.2.3.4]", "256.1.1.1", "1.2.3.4.5", "example.1", "a.0x1",
      "a\u{0}b.example", String(repeating: "a", count: 64) + ".example",
      String(repeating: "a.", count: 130) + "example",
    ])
  func noSites(host: String) { #expect(Site(host: host) == nil) }

  @Test("S5: the site of a site is the site")
  func fixed() throws {
    for host in ["www.example.co.uk", "B\u{fc}cher.example", "[2001:DB8::1]", "10.0.0.1"] {
      let site = try #require(Site(host: host))
      #expect(Site(host: site.name) == site)
    }
  }
}
