// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import SecretMemory

/// The data of an item that stands for an enclave key: the key's authorization value, released with the item's data,
/// and the data that the enclave needs.
///
/// Format: Documentation/Formats/enclave-key.md.
public struct EnclaveKeyRecord: Sendable {
    public let kind: EnclaveKind
    let publicPoint: [UInt8]
    let authorization: SharedSecret
    let privateHalf: SharedSecret

    static let version: UInt8 = 1
    static let pointLength = 65
    static let authorizationLength = 32
    static let maxLength = 4096

    /// Creates a key.
    public static func create(in enclave: any SecureEnclave) throws(KeychainError) -> EnclaveKeyRecord {
        let authorization = SharedSecret(.random(count: authorizationLength))
        let halves = try enclave.createKey(authorization: authorization)
        return EnclaveKeyRecord(
            kind: enclave.kind, publicPoint: halves.publicPoint, authorization: authorization,
            privateHalf: halves.privateHalf)
    }

    /// The data to store.
    public var encoded: SharedSecret {
        let head = SharedSecret(copying: [Self.version, kind.number] + publicPoint)
        return SharedSecret(joining: [head, authorization, privateHalf])
    }

    /// Reads stored data.
    ///
    /// - Throws: errSecDecode, with the reason.
    public init(decoding data: SharedSecret) throws(KeychainError) {
        let headLength = 2 + Self.pointLength
        let bodyStart = headLength + Self.authorizationLength
        guard bodyStart < data.count, data.count <= Self.maxLength else {
            throw Self.damaged("it has \(data.count) bytes")
        }
        // EXPOSE: the head is not secret.
        let head = data.withUnsafeBytes { Array($0.prefix(headLength)) }
        guard head[0] == Self.version else { throw Self.damaged("unsupported version \(head[0])") }
        guard let kind = EnclaveKind(number: head[1]) else { throw Self.damaged("unknown enclave \(head[1])") }
        self.kind = kind
        publicPoint = Array(head.dropFirst(2))
        guard publicPoint[0] == 4 else { throw Self.damaged("its public key is not a point") }
        authorization = data.withUnsafeBytes { Self.copy($0[headLength..<bodyStart]) }
        privateHalf = data.withUnsafeBytes { Self.copy($0[bodyStart...]) }
    }

    private init(
        kind: EnclaveKind, publicPoint: [UInt8], authorization: SharedSecret, privateHalf: SharedSecret
    ) {
        (self.kind, self.publicPoint) = (kind, publicPoint)
        (self.authorization, self.privateHalf) = (authorization, privateHalf)
    }

    private static func copy(_ bytes: Slice<UnsafeRawBufferPointer>) -> SharedSecret {
        SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: bytes)))
    }

    private static func damaged(_ reason: String) -> KeychainError {
        KeychainError(.decode, "the item is not a key of a Secure Enclave: \(reason)")
    }
}

extension EnclaveKind {
    fileprivate var number: UInt8 { self == .tpm ? 1 : 2 }

    fileprivate init?(number: UInt8) {
        switch number {
        case 1: self = .tpm
        case 2: self = .software
        default: return nil
        }
    }
}
