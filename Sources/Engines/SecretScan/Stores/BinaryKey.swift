// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import OpenSSLCrypto
internal import SecretMemory

/// Private keys in DER.
enum BinaryKey {
    private static let maxLength = 1 << 20

    /// Whether the bytes are one private key that is not encrypted: PKCS #1, SEC 1 or PKCS #8.
    static func isPlainKey(_ bytes: [UInt8]) -> Bool {
        guard bytes.count <= 16_384, let sequence = content(of: bytes), sequence.count >= 40 else { return false }
        var fields = FieldReader(Array(sequence))
        guard let version = fields.array(3) else { return false }
        let next = fields.rest
        switch version {
        // PKCS #1: eight numbers, the first with at least 512 bits. PKCS #8: an algorithm, with its name first.
        case [2, 1, 0]:
            return next.starts(with: [2, 0x82]) || next.starts(with: [2, 0x81])
                || next.first == 0x30 && next.dropFirst(2).first == 6
        // SEC 1: a number with as many bytes as the curve has.
        case [2, 1, 1]: return [32, 48, 66].contains { next.starts(with: [4, UInt8($0)]) }
        default: return false
        }
    }

    /// The result of the usual passwords, and of none, for a PKCS #12 file.
    enum Archive {
        /// One of them opens it, and it has a private key.
        case weak
        /// They cannot be tried: it needs too many iterations, or something unsupported.
        case untried
    }

    /// - Returns: nil for other bytes, and for a file that none of the passwords opens.
    static func archive(_ bytes: [UInt8]) -> Archive? {
        guard bytes.count <= maxLength, let sequence = content(of: bytes), sequence.starts(with: [2, 1, 3, 0x30]) else {
            return nil
        }
        for password in passwords {
            let passphrase = SharedSecret(copying: Array(password.utf8))
            let outcome = bytes.withUnsafeBytes { der in
                Result { () throws(PKCS12Error) in
                    try PKCS12Archive(reading: der, passphrase: passphrase, maxIterations: maxIterations)
                }
            }
            switch outcome {
            case .success(let archive): return archive.keys.isEmpty ? nil : .weak
            case .failure(.unsupported): return .untried
            case .failure: continue
            }
        }
        return nil
    }

    /// For one password.
    private static let maxIterations = 100_000
    private static let passwords = [
        "", "password", "changeit", "changeme", "secret", "123456", "1234", "test", "notasecret",
    ]

    /// The content of a sequence that is as long as the bytes.
    private static func content(of bytes: [UInt8]) -> ArraySlice<UInt8>? {
        var fields = FieldReader(bytes)
        guard let tag: UInt8 = fields.number(), tag == 0x30, let first: UInt8 = fields.number() else { return nil }
        let length: Int
        if first < 0x80 {
            length = Int(first)
        } else {
            guard 1...3 ~= first & 0x7F, let long = fields.number(width: Int(first & 0x7F)) else { return nil }
            length = Int(long)
        }
        return fields.remaining == length ? fields.rest : nil
    }
}
