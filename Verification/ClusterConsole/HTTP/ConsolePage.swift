import Foundation
import Hummingbird

/// The files of the page, read once.
struct ConsolePage: Sendable {
  private static let types = [
    "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml", "png": "image/png",
  ]
  private let files: [String: (type: String, data: Data)]

  /// The paths of all files.
  var paths: Set<String> { Set(files.keys) }

  /// Reads the page beside this program.
  init() throws {
    guard let folder = Bundle.module.url(forResource: "Page", withExtension: nil),
      let names = FileManager.default.enumerator(atPath: folder.path)
    else { throw CocoaError(.fileNoSuchFile) }
    var files: [String: (type: String, data: Data)] = [:]
    for case let name as String in names {
      let file = folder.appendingPathComponent(name)
      guard let type = Self.types[file.pathExtension] else { continue }
      files["/" + name] = (type, try Data(contentsOf: file))
    }
    files["/"] = files["/index.html"]
    self.files = files
  }

  /// The file at a path.
  func response(to request: Request) throws -> Response {
    guard let file = files[request.uri.path] else { throw HTTPError(.notFound) }
    return Response(
      status: .ok, headers: [.contentType: file.type],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: file.data)))
  }
}
