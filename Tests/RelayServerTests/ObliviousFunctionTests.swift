import Testing

@testable import Credentials

/// The oblivious function of passcodes.
@Suite struct ObliviousFunctionTests {
  private struct Vector: CustomTestStringConvertible {
    let input: String
    let element: String
    let evaluated: String
    let proof: String
    let output: String
    var testDescription: String { input }
  }

  private static func bytes(_ hex: String) -> [UInt8] {
    let digits = Array(hex)
    return stride(from: 0, to: digits.count, by: 2).map { index in
      UInt8(String(digits[index...index + 1]), radix: 16)!
    }
  }

  private static let secret = "e6f73f344b79b379f1a0dd37e07ff62e38d9f71345ce62ae3a9bc60b04ccd909"
  private static let key = "c803e2cc6b05fc15064549b5920659ca4a77b2cca6f04f6b357009335476ad4e"
  private static let blind = "64d37aed22a27f5191de1c1d69fadb899d8862b58eb4220029e036ec4c1f6706"
  private static let nonce = "222a5e897cf59db8145db8d16e597e8facb80ae7d4e26d9881aa6f61d645fc0e"
  /// RFC 9497, appendix A.1.2: OPRF(ristretto255, SHA-512), verifiable mode.
  private static let vectors = [
    Vector(
      input: "00",
      element: "863f330cc1a1259ed5a5998a23acfd37fb4351a793a5b3c090b642ddc439b945",
      evaluated: "aa8fa048764d5623868679402ff6108d2521884fa138cd7f9c7669a9a014267e",
      proof: "ddef93772692e535d1a53903db24367355cc2cc78de93b3be5a8ffcc6985dd06"
        + "6d4346421d17bf5117a2a1ff0fcb2a759f58a539dfbe857a40bce4cf49ec600d",
      output: "b58cfbe118e0cb94d79b5fd6a6dafb98764dff49c14e1770b566e42402da1a7d"
        + "a4d8527693914139caee5bd03903af43a491351d23b430948dd50cde10d32b3c"),
    Vector(
      input: "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a",
      element: "cc0b2a350101881d8a4cba4c80241d74fb7dcbfde4a61fde2f91443c2bf9ef0c",
      evaluated: "60a59a57208d48aca71e9e850d22674b611f752bed48b36f7a91b372bd7ad468",
      proof: "401a0da6264f8cf45bb2f5264bc31e109155600babb3cd4e5af7d181a2c9dc0a"
        + "67154fabf031fd936051dec80b0b6ae29c9503493dde7393b722eafdf5a50b02",
      output: "8a9a2f3c7f085b65933594309041fc1898d42d0858e59f90814ae90571a6df60"
        + "356f4610bf816f27afdd84f47719e480906d27ecd994985890e5f539e7ea74b6"),
  ]

  @Test("T8: the oblivious function is that of RFC 9497", arguments: vectors)
  private func standard(_ vector: Vector) throws {
    func bytes(_ hex: String) -> [UInt8] { Self.bytes(hex) }
    #expect(ObliviousFunction.publicKey(of: bytes(Self.secret)) == bytes(Self.key))
    let element = ObliviousFunction.blind(bytes(vector.input), by: bytes(Self.blind))
    #expect(element == bytes(vector.element))
    let evaluation = try #require(
      ObliviousFunction.evaluate(
        bytes(vector.element), secret: bytes(Self.secret), nonce: bytes(Self.nonce)))
    #expect(evaluation.element == bytes(vector.evaluated))
    #expect(evaluation.proof == bytes(vector.proof))
    func output(
      evaluated: [UInt8] = bytes(vector.evaluated), proof: [UInt8] = bytes(vector.proof),
      key: [UInt8] = bytes(Self.key)
    ) -> [UInt8]? {
      ObliviousFunction.finalize(
        bytes(vector.input), blind: bytes(Self.blind), evaluated: evaluated, proof: proof, key: key)
    }
    #expect(output() == bytes(vector.output))
    // A relay with another secret, or without a proof, is noticed.
    let other = ObliviousFunction.makeScalar()
    let forged = try #require(ObliviousFunction.evaluate(bytes(vector.element), secret: other))
    #expect(output(evaluated: forged.element, proof: forged.proof) == nil)
    #expect(output(key: try #require(ObliviousFunction.publicKey(of: other))) == nil)
    for index in [0, 31, 32, 63] {
      var proof = bytes(vector.proof)
      proof[index] ^= 1
      #expect(output(proof: proof) == nil)
    }
    #expect(output(proof: []) == nil && output(key: []) == nil && output(evaluated: []) == nil)
  }

  @Test("T8: refuses elements outside the group") func elements() {
    let secret = ObliviousFunction.makeScalar()
    for element in [
      [], Array(repeating: UInt8(0), count: 32), Array(repeating: UInt8(255), count: 32),
    ] {
      #expect(ObliviousFunction.evaluate(element, secret: secret) == nil)
    }
    #expect(ObliviousFunction.publicKey(of: Array(repeating: 0, count: 32)) == nil)
  }
}
