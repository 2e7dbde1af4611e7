import NIOSSL

/// The certificate of a server at 127.0.0.1, which no authority has signed, and its key. The key
/// protects nothing but these tests.
enum SelfSigned {
  static let certificate = """
    -----BEGIN CERTIFICATE-----
    MIIBWjCCAQCgAwIBAgIBATAKBggqhkjOPQQDAjATMREwDwYDVQQDDAh3ZWJob29r
    czAgFw0wMDAxMDEwMDAwMDBaGA8yMTAwMDEwMTAwMDAwMFowEzERMA8GA1UEAwwI
    d2ViaG9va3MwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAT5oF/axEpsv7HBrLuW
    3AR4LW7aMY7hOaIgqozxHaHUfm0IQQy7Q2sQYHhWDT4T7Vzuz8k0U8ZRq5Fc59m2
    7IEwo0MwQTAPBgNVHREECDAGhwR/AAABMA8GA1UdEwEB/wQFMAMBAf8wHQYDVR0O
    BBYEFDqs3fVABpFM03s/UxWqC96M7NSXMAoGCCqGSM49BAMCA0gAMEUCIQClFDAF
    1OdO0eIn03jzEYeW6qSUnlpRrwVmGmtDhpvFlQIgVEFRQSl0T3P5OxXImVl1QiB4
    zILSzA1R92k6RHslXeY=
    -----END CERTIFICATE-----
    """
  private static let key = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg2zND/3/M2CQq0uNr
    byN1whMFzUXUEnNhcvliKeTk4ZChRANCAAT5oF/axEpsv7HBrLuW3AR4LW7aMY7h
    OaIgqozxHaHUfm0IQQy7Q2sQYHhWDT4T7Vzuz8k0U8ZRq5Fc59m27IEw
    -----END PRIVATE KEY-----
    """

  /// The configuration of the server.
  static func server() throws -> TLSConfiguration {
    try .makeServerConfiguration(
      certificateChain: NIOSSLCertificate.fromPEMBytes(Array(certificate.utf8)).map {
        .certificate($0)
      },
      privateKey: .privateKey(NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem)))
  }
}
