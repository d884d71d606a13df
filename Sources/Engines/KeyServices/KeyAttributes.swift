// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

/// The default attributes of a key item (keychain-behaviour §6.4). Attributes of the caller
/// override them.
public enum KeyAttributes {
    public static func standard(_ key: PublicKey, _ half: KeyHalf) throws(KeychainError) -> [ItemAttribute:
        AttributeValue]
    {
        var attributes: [ItemAttribute: AttributeValue] = [
            .keyClass: .number(half.rawValue), .type: .number(key.kind.type.rawValue),
            .keySizeInBits: .number(Int64(key.kind.bits)),
            .effectiveKeySize: .number(Int64(key.kind.bits)), .applicationLabel: .data(try key.applicationLabel()),
        ]
        for attribute in all { attributes[attribute] = .number(isTrue(attribute, key.kind.type, half) ? 1 : 0) }
        return attributes
    }

    private static let all: [ItemAttribute] = [
        .isPermanent, .isPrivate, .isModifiable, .isSensitive, .wasAlwaysSensitive, .isExtractable,
        .wasNeverExtractable, .canEncrypt,
        .canDecrypt, .canDerive, .canSign, .canVerify, .canSignRecover, .canVerifyRecover, .canWrap, .canUnwrap,
    ]

    private static func isTrue(_ attribute: ItemAttribute, _ type: KeyType, _ half: KeyHalf) -> Bool {
        switch attribute {
        // Apple also sets isPrivate for public keys.
        case .isPermanent, .isPrivate, .isModifiable, .isExtractable: true
        case .canSign, .canUnwrap: half == .privateKey
        case .canEncrypt, .canVerify, .canWrap: half == .publicKey
        case .canDecrypt: half == .privateKey || type == .rsa
        case .canDerive: half == .privateKey && type == .ellipticCurve
        default: false
        }
    }

    /// Returns the attribute that permits an operation.
    public static func permission(for operation: KeyOperation) -> ItemAttribute {
        switch operation {
        case .sign: .canSign
        case .verify: .canVerify
        case .encrypt: .canEncrypt
        case .decrypt: .canDecrypt
        case .exchange: .canDerive
        }
    }
}
