import ArgumentParser
import Foundation
import GatewayModel
import PrivateFiles

/// The files of the gateway's folder.
struct GatewayFiles {
  let folder: URL

  var store: URL { folder.appendingPathComponent("gateway.sqlite") }
  var socket: URL { folder.appendingPathComponent("gateway.sock") }

  /// The app's token, made at its first start.
  func token(of app: String) throws -> String {
    try text("token-\(app)") {
      var generator = SystemRandomNumberGenerator()
      let bytes = (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
      return Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
        .replacing("=", with: "")
    }
  }

  /// The secret of the app's webhook, made at its first start.
  func secret(of app: String) throws -> WebhookSecret {
    let name = "secret-\(app)"
    let text = try text(name) { WebhookSecret.random().text }
    guard let secret = WebhookSecret(text) else {
      throw ValidationError(
        "\(folder.path)/\(name) is not a webhook's secret. Remove the file to make a new one.")
    }
    return secret
  }

  private func text(_ name: String, _ make: () -> String) throws -> String {
    let file = folder.appendingPathComponent(name)
    if FileManager.default.fileExists(atPath: file.path) {
      let text = String(decoding: try PrivateFile.read(file), as: UTF8.self)
      return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
    let text = make()
    try PrivateFile.write(Data((text + "\n").utf8), to: file)
    return text
  }
}
