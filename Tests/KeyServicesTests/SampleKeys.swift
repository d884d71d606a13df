// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
import KeyServices

/// Keys that are created once, because large ones take long.
enum SampleKeys {
    static let rsa1024 = imported(bits: 1024)
    static let rsa2048 = made(KeyKind(.rsa, bits: 2048))
    static let rsa3072 = imported(bits: 3072)
    static let rsa4096 = imported(bits: 4096)
    /// From Tests/Vectors: openssl takes half a minute to generate one.
    static let rsa8192 = kept("rsa-8192.pem")
    static let p192 = imported(curve: "prime192v1")
    static let p224 = made(KeyKind(.ellipticCurve, bits: 224))
    static let p256 = made(KeyKind(.ellipticCurve, bits: 256))
    static let p384 = made(KeyKind(.ellipticCurve, bits: 384))
    static let p521 = made(KeyKind(.ellipticCurve, bits: 521))

    static var rsa: [SoftwareKey] { [rsa1024, rsa2048, rsa3072, rsa4096, rsa8192].compactMap { $0 } }
    static var curves: [SoftwareKey] { [p192, p224, p256, p384, p521].compactMap { $0 } }

    private static func made(_ kind: KeyKind) -> SoftwareKey? { try? SoftwareKey.generate(kind) }

    private static func imported(bits: Int) -> SoftwareKey? {
        imported(["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:\(bits)"])
    }
    private static func imported(curve: String) -> SoftwareKey? {
        imported(["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:\(curve)"])
    }

    private static func imported(_ words: [String]) -> SoftwareKey? {
        (try? OpenSSL().output(["genpkey"] + words)).flatMap(first)
    }

    private static func kept(_ name: String) -> SoftwareKey? {
        (try? Array(Data(contentsOf: Vectors.file(name)))).flatMap(first)
    }

    private static func first(_ pem: [UInt8]) -> SoftwareKey? {
        guard let entry = try? KeyFile.read(pem).first, case .privateKey(let key) = entry else { return nil }
        return key
    }
}
