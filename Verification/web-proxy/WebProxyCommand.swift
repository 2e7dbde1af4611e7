import ArgumentParser
import Foundation

@main struct WebProxyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "web-proxy",
    abstract: "A forward proxy on the loopback address for the browsers of a child's device.",
    discussion: """
      The proxy is an app of the device: PERMISSION_RELAY_DEVICE names its credential file. A site opens \
      only if the guardians' rules or an approval open it. Where the rules say so, the proxy asks.
      """)

  @Option(help: "The port; 0 chooses a free one.") var port = 8118

  func run() async throws {
    try await WebProxy().run(port: port) { port in
      // Not buffered: a script waits for this line.
      FileHandle.standardOutput.write(Data("ready http://127.0.0.1:\(port)\n".utf8))
    }
  }
}
