/// The comparison of secrets that requests carry.
package enum Secret {
  /// Compares in a time that depends on the lengths alone.
  package static func isEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    a.count == b.count && zip(a, b).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
