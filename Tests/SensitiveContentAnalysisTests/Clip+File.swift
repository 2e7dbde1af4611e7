import Foundation
import PermissionKitTesting

@testable import SensitiveContentAnalysis

extension Clip {
  /// A file of this content until the end of the body.
  static func withFile<T>(_ content: Data, _ body: (URL) async throws -> T) async throws -> T {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent(
      "video-\(UUID().uuidString)")
    try content.write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    return try await body(file)
  }

  static func withVideo<T>(
    _ content: Data, decoder: String? = nil, _ body: (VideoFile) async throws -> T
  ) async throws -> T {
    try await withFile(content) { url in
      let file = try FileHandle(forReadingFrom: url)
      defer { try? file.close() }
      return try await body(VideoFile(file.fileDescriptor, decoder: decoder))
    }
  }
}
