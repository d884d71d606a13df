// SPDX-License-Identifier: Apache-2.0

internal import Crypto
public import FoundationEssentials
public import KeychainModel

/// The digest of a body as a field (RFC 9530). It detects accidents; only a signature that covers
/// the field authenticates the body.
public enum ContentDigest {
    /// Returns the field `Content-Digest` with SHA-512.
    public static func field(for body: some DataProtocol) -> HTTPField {
        var dictionary = StructuredDictionary()
        let digest = StructuredValue.bytes(Array(SHA512.hash(data: body)))
        dictionary.set("sha-512", .item(StructuredItem(value: digest)))
        return HTTPField("Content-Digest", dictionary.text)
    }

    /// Checks that the body has the digests of the message.
    ///
    /// - Throws: `errSecItemNotFound` without the field; `errSecUnimplemented` if it has neither
    ///   SHA-256 nor SHA-512; `errSecVerifyFailed` for another digest.
    public static func verify(_ body: some DataProtocol, of message: HTTPMessageHead) throws(KeychainError) {
        guard let text = message.combinedValue(of: "content-digest") else {
            throw KeychainError(.itemNotFound, "the message has no content-digest")
        }
        let dictionary = try StructuredFieldParser.dictionary(text, rejectsDuplicates: true)
        var isVerified = false
        for entry in dictionary.all {
            let digest: [UInt8]
            switch entry.key {
            case "sha-256": digest = Array(SHA256.hash(data: body))
            case "sha-512": digest = Array(SHA512.hash(data: body))
            default: continue
            }
            guard case .item(let item) = entry.value, case .bytes(let found) = item.value else {
                throw .parameter("the digest \(entry.key) must be a byte sequence")
            }
            guard MessageCode.areEqual(found, digest) else {
                throw KeychainError(.verifyFailed, "the body does not have the digest of the message")
            }
            isVerified = true
        }
        guard isVerified else {
            let names = dictionary.all.prefix(8).map(\.key).joined(separator: ", ").prefix(200)
            throw KeychainError(
                .unimplemented,
                "content-digest must have sha-256 or sha-512, found \(names): MD5, SHA-1 and checksums can be forged")
        }
    }
}
