// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLCrypto

/// A caller's parameters, converted to a supported cipher, mode and padding.
struct CipherRequest {
    let kind: CipherKind
    let direction: BlockCipher.Direction
    let isPadded: Bool

    /// - Throws: ``Refusal`` with `kCCParamError` for values that CommonCryptor.h does not define,
    ///   `kCCUnimplemented` for an unsupported cipher or mode, `kCCKeySizeError`.
    init(
        _ operation: CCOperation, _ mode: CCMode, _ algorithm: CCAlgorithm, _ padding: CCPadding, keyByteCount: Int
    ) throws(Refusal) {
        direction = try Self.direction(operation)
        let algorithm = try Self.algorithm(algorithm)
        let mode = try Self.mode(mode)
        isPadded = try Self.isPadded(padding)
        guard let kind = CipherKind(algorithm, mode: mode, keyByteCount: keyByteCount) else {
            throw Refusal(kCCKeySizeError)
        }
        self.kind = kind
    }

    private static func direction(_ operation: CCOperation) throws(Refusal) -> BlockCipher.Direction {
        switch Int(operation) {
        case kCCEncrypt: return .encrypt
        case kCCDecrypt: return .decrypt
        default: throw Refusal(kCCParamError)
        }
    }

    private static func algorithm(_ algorithm: CCAlgorithm) throws(Refusal) -> CipherKind.Algorithm {
        switch Int(algorithm) {
        case kCCAlgorithmAES: return .aes
        case kCCAlgorithmDES: return .des
        case kCCAlgorithm3DES: return .tripleDES
        case kCCAlgorithmCAST, kCCAlgorithmRC4, kCCAlgorithmRC2, kCCAlgorithmBlowfish: throw Refusal(kCCUnimplemented)
        default: throw Refusal(kCCParamError)
        }
    }

    /// The numbers 5, 6, 8, 11 and 12 are modes of Apple's private headers.
    private static func mode(_ mode: CCMode) throws(Refusal) -> CipherKind.Mode {
        switch Int(mode) {
        case kCCModeECB: return .ecb
        case kCCModeCBC: return .cbc
        case kCCModeCFB: return .cfb
        case kCCModeCTR: return .ctr
        case kCCModeOFB: return .ofb
        case kCCModeCFB8: return .cfb8
        case kCCModeRC4, 5, 6, 8, 11, 12: throw Refusal(kCCUnimplemented)
        default: throw Refusal(kCCParamError)
        }
    }

    private static func isPadded(_ padding: CCPadding) throws(Refusal) -> Bool {
        switch Int(padding) {
        case ccNoPadding: return false
        case ccPKCS7Padding: return true
        default: throw Refusal(kCCParamError)
        }
    }
}

/// A status other than `kCCSuccess`, thrown to the public function.
struct Refusal: Error {
    let status: CCCryptorStatus
    /// The required size of the output, reported with `kCCBufferTooSmall`.
    var needed: Int?

    init(_ code: Int) {
        status = LatchkeyCommonCrypto.status(code)
    }

    init(_ error: CipherError) {
        switch error {
        case .unsupported: self.init(kCCUnimplemented)
        case .outputTooSmall(let needed):
            self.init(kCCBufferTooSmall)
            self.needed = needed
        case .tooLong: self.init(kCCParamError)
        case .unaligned: self.init(kCCAlignmentError)
        case .badPadding: self.init(kCCDecodeError)
        case .finished: self.init(kCCCallSequenceError)
        case .failed: self.init(kCCUnspecifiedError)
        }
    }
}
