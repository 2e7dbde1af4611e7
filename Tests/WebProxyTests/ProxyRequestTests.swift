import Foundation
import Testing

@testable import web_proxy

@Suite struct ProxyRequestTests {
  @Test("S5: a page's address decides about its host, and no header does")
  func page() throws {
    let request = try #require(
      ProxyRequest(
        "GET http://www.example.co.uk:8080/a?b=c HTTP/1.1\r\nHost: other.example\r\n"
          + "Proxy-Connection: keep-alive\r\nAccept: */*"))
    #expect(request.host == "www.example.co.uk" && request.port == 8080)
    #expect(
      request.head == "GET /a?b=c HTTP/1.1\r\nHost: www.example.co.uk:8080\r\nConnection: close\r\n"
        + "Accept: */*\r\n\r\n")
    let root = try #require(ProxyRequest("GET http://example.com HTTP/1.0"))
    #expect(root.port == 80 && root.head?.hasPrefix("GET / HTTP/1.1\r\n") == true)
    let query = try #require(ProxyRequest("GET http://example.com?q HTTP/1.1"))
    #expect(query.head?.hasPrefix("GET /?q HTTP/1.1\r\n") == true)
  }

  @Test("S5: a tunnel has a host and a port")
  func tunnel() throws {
    let request = try #require(ProxyRequest("CONNECT example.com:443 HTTP/1.1\r\nHost: x"))
    #expect(request.host == "example.com" && request.port == 443 && request.head == nil)
    #expect(request.url == URL(string: "https://example.com:443/"))
    let address = try #require(ProxyRequest("CONNECT [2001:db8::1]:443 HTTP/1.1"))
    #expect(address.host == "2001:db8::1")
  }

  @Test(
    "S5: other requests are refused",
    arguments: [
      "", "GET", "GET / HTTP/1.1", "GET https://example.com/ HTTP/1.1",
      "CONNECT example.com HTTP/1.1",
      "CONNECT example.com:443/x HTTP/1.1", "CONNECT a@example.com:443 HTTP/1.1",
      "GET http://a@example.com/ HTTP/1.1", "GET http:///x HTTP/1.1",
      "GET http://example.com/ HTTP/2",
      "GET http://example.com/a b HTTP/1.1", "GET http://example.com/ HTTP/1.1\r\nno header",
      "CONNECT example.com:0 HTTP/1.1", "CONNECT example.com:65536 HTTP/1.1",
    ])
  func refused(head: String) { #expect(ProxyRequest(head) == nil) }
}
