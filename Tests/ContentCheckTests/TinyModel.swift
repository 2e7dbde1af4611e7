import Foundation

/// An ONNX model of three classes, whose values are the mean red, green and blue of a picture.
///
/// The fields are those of the messages in onnx.proto.
enum TinyModel {
  static let file = Data(
    field(1, 8) + field(8, field(1, "") + field(2, 13))
      + field(7, field(1, mean) + field(2, "tiny") + field(11, picture) + field(12, classes)))

  private static let mean =
    field(1, "picture") + field(2, "means") + field(4, "ReduceMean")
    + field(5, field(1, "axes") + field(8, 2) + field(8, 3) + field(20, 7))
    + field(5, field(1, "keepdims") + field(3, 0) + field(20, 2))
  private static let picture = value("picture", [1, 3, 8, 8])
  private static let classes = value("means", [1, 3])

  /// A name with a tensor of floats of this shape.
  private static func value(_ name: String, _ shape: [UInt8]) -> [UInt8] {
    let dimensions = shape.flatMap { field(1, field(1, $0)) }
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, dimensions)))
  }

  private static func field(_ number: UInt8, _ value: UInt8) -> [UInt8] {
    tag(number, 0) + [value]
  }

  private static func field(_ number: UInt8, _ text: String) -> [UInt8] {
    field(number, Array(text.utf8))
  }

  private static func field(_ number: UInt8, _ message: [UInt8]) -> [UInt8] {
    let count = message.count
    let length = count < 128 ? [UInt8(count)] : [UInt8(count & 127 | 128), UInt8(count >> 7)]
    return tag(number, 2) + length + message
  }

  private static func tag(_ number: UInt8, _ type: UInt8) -> [UInt8] {
    number < 16 ? [number << 3 | type] : [number << 3 & 127 | 128 | type, number >> 4]
  }
}
