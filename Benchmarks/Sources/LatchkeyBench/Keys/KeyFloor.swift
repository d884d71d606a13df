// SPDX-License-Identifier: Apache-2.0

import CKeyFloor
import Foundation

/// libcrypto, called directly.
final class KeyFloor {
    private let key: OpaquePointer
    private var signature = [UInt8](repeating: 0, count: 2048)
    private var cipher = [UInt8](repeating: 0, count: 4096)
    private var plain = [UInt8](repeating: 0, count: 4096)
    private var signatureLength = 0
    private var cipherLength = 0

    init(_ kind: KeyBenchKind) throws {
        guard let key = floor_generate(kind.isCurve ? 1 : 0, Int32(kind.bits)) else {
            throw BenchmarkFailure("libcrypto cannot generate a key")
        }
        self.key = key
    }

    deinit { floor_free(key) }

    static func generate(_ kind: KeyBenchKind) throws {
        guard let key = floor_generate(kind.isCurve ? 1 : 0, Int32(kind.bits)) else {
            throw BenchmarkFailure("libcrypto cannot generate a key")
        }
        floor_free(key)
    }

    func run(_ operation: KeyBenchOperation, _ message: [UInt8], _ other: KeyFloor) throws {
        let count: Int
        switch operation {
        case .sign:
            signatureLength = floor_sign(key, message, message.count, &signature, signature.count)
            count = signatureLength
        case .verify: count = floor_verify(key, message, message.count, signature, signatureLength)
        case .encrypt:
            cipherLength = floor_encrypt(key, message, message.count, &cipher, cipher.count)
            count = cipherLength
        case .decrypt: count = floor_decrypt(key, cipher, cipherLength, &plain, plain.count)
        case .agree: count = floor_agree(key, other.key, &plain, plain.count)
        case .generate: count = 1
        }
        guard count > 0 else { throw BenchmarkFailure("libcrypto cannot \(operation)") }
    }
}

/// The operations that are measured.
enum KeyBenchOperation: String, CaseIterable { case sign, verify, encrypt, decrypt, agree, generate }

/// The kinds of keys that are measured.
struct KeyBenchKind {
    var isCurve: Bool
    var bits: Int

    static let all =
        [2048, 3072, 4096].map { KeyBenchKind(isCurve: false, bits: $0) }
        + [256, 384, 521].map { KeyBenchKind(isCurve: true, bits: $0) }

    var name: String { isCurve ? "P-\(bits)" : "RSA-\(bits)" }
    var operations: [KeyBenchOperation] {
        isCurve ? KeyBenchOperation.allCases : [.sign, .verify, .encrypt, .decrypt, .generate]
    }
}
