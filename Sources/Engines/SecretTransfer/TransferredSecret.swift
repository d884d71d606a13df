// SPDX-License-Identifier: Apache-2.0

public import SecretMemory
public import SystemBus

/// A secret on the bus, in the form of its session: ``busType``.
public struct TransferredSecret: Sendable {
    public let session: ObjectPath
    /// The initialization vector; empty in a session without encryption.
    public let parameters: SharedSecret
    /// The secret, or its ciphertext.
    public let value: SharedSecret
    public let contentType: String

    public init(session: ObjectPath, parameters: SharedSecret, value: SharedSecret, contentType: String) {
        self.session = session
        self.parameters = parameters
        self.value = value
        self.contentType = contentType
    }

    /// nil for a value of another type.
    public init?(_ value: BusValue) {
        guard case .structure(let fields) = value, fields.count == 4, case .objectPath(let session)? = fields.first,
            case .string(let contentType)? = fields.last, let parameters = fields.dropFirst().first?.byteArray,
            let content = fields.dropFirst(2).first?.byteArray
        else { return nil }
        self.init(session: session, parameters: parameters, value: content, contentType: contentType)
    }

    /// `(oayays)`.
    public static let busType = BusType.structure([.objectPath, .array(.byte), .array(.byte), .string])

    public var busValue: BusValue {
        .structure([.objectPath(session), .secret(parameters), .secret(value), .string(contentType)])
    }
}

extension BusValue {
    /// The bytes of an array of bytes, however they were received; nil for another value.
    public var byteArray: SharedSecret? {
        switch self {
        case .secret(let secret): secret
        case .bytes(let bytes): SharedSecret(copying: bytes)
        // An empty array of another type has no bytes either, and is not one of bytes.
        default: nil
        }
    }
}
