// SPDX-License-Identifier: Apache-2.0

/// A block cipher with its key size, in a mode of operation.
public struct CipherKind: Hashable, Sendable {
    public enum Algorithm: Sendable {
        /// AES (FIPS 197).
        case aes
        /// DES and Triple DES (FIPS 46-3). Both are insecure.
        case des, tripleDES
    }

    /// A mode of SP 800-38A. The raw value is libcrypto's name.
    public enum Mode: String, Sendable, CaseIterable {
        case ecb = "ECB"
        case cbc = "CBC"
        case cfb = "CFB"
        case cfb8 = "CFB8"
        case ctr = "CTR"
        case ofb = "OFB"
    }

    public let algorithm: Algorithm
    public let mode: Mode
    /// The key size in bytes.
    public let keyByteCount: Int

    /// Returns nil if the algorithm has no keys of `keyByteCount` bytes: 16, 24 or 32 for AES, 8
    /// for DES, 24 for Triple DES.
    public init?(_ algorithm: Algorithm, mode: Mode, keyByteCount: Int) {
        guard algorithm.keyByteCounts.contains(keyByteCount) else { return nil }
        self.algorithm = algorithm
        self.mode = mode
        self.keyByteCount = keyByteCount
    }

    // Kinds that always exist.
    public static let aes128CBC = CipherKind(aes: 16)
    public static let aes192CBC = CipherKind(aes: 24)
    public static let aes256CBC = CipherKind(aes: 32)
    public static let tripleDESCBC = CipherKind(algorithm: .tripleDES, mode: .cbc, keyByteCount: 24)

    private init(aes keyByteCount: Int) { self.init(algorithm: .aes, mode: .cbc, keyByteCount: keyByteCount) }

    private init(algorithm: Algorithm, mode: Mode, keyByteCount: Int) {
        self.algorithm = algorithm
        self.mode = mode
        self.keyByteCount = keyByteCount
    }

    /// The size of the algorithm's blocks, and of an initialization vector, in bytes.
    public var blockByteCount: Int { algorithm.blockByteCount }

    /// Whether the mode is a stream cipher: its output is as long as its input and is never padded.
    public var isStream: Bool { mode != .ecb && mode != .cbc }

    /// libcrypto's name. Its default provider does not have DES, so DES is Triple DES with the same key three times.
    var name: String {
        switch algorithm {
        case .aes: "AES-\(keyByteCount * 8)-\(mode.rawValue)"
        case .des, .tripleDES: "DES-EDE3-\(mode.rawValue)"
        }
    }
}

extension CipherKind.Algorithm {
    /// The size of a block in bytes.
    public var blockByteCount: Int { self == .aes ? 16 : 8 }

    var keyByteCounts: [Int] {
        switch self {
        case .aes: [16, 24, 32]
        case .des: [8]
        case .tripleDES: [24]
        }
    }
}
