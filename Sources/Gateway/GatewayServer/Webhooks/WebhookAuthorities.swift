import NIOSSL

/// Certificate authorities of the operator, which webhooks' servers may use beside those of the
/// system.
package struct WebhookAuthorities: Sendable {
  let certificates: [NIOSSLCertificate]

  /// The authorities of the system alone.
  package init() { certificates = [] }

  /// The authorities in PEM files.
  ///
  /// - Throws: ``Unreadable`` for a file without a certificate.
  package init(files: [String]) throws(Unreadable) {
    var certificates: [NIOSSLCertificate] = []
    for file in files {
      guard let found = try? NIOSSLCertificate.fromPEMFile(file), !found.isEmpty else {
        throw Unreadable(file: file)
      }
      certificates += found
    }
    self.certificates = certificates
  }

  /// A file that has no certificate in PEM.
  package struct Unreadable: Error, Hashable {
    package let file: String
  }
}
