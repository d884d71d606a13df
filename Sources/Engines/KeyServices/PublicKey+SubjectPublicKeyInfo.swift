// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

extension PublicKey {
    /// Creates a key from the bytes of a caller: the external representation, or for RSA also a
    /// `SubjectPublicKeyInfo`. Apple's reader of RSA keys tries that format first.
    ///
    /// - Throws: errSecParam for anything else.
    public convenience init(imported bytes: UnsafeRawBufferPointer, type: KeyType) throws(KeychainError) {
        let external = type == .rsa ? Self.rsaPublicKey(inSubjectPublicKeyInfo: bytes) : nil
        try self.init(external: external ?? bytes, type: type)
    }

    /// Returns the `RSAPublicKey` in a `SubjectPublicKeyInfo` (RFC 3279, section 2.3.1); nil if the
    /// bytes have another format.
    private static func rsaPublicKey(inSubjectPublicKeyInfo bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        var rest = bytes
        guard var content = DERNumbers.element(0x30, &rest), rest.isEmpty, content.starts(with: rsaEncryption) else {
            return nil
        }
        content = UnsafeRawBufferPointer(rebasing: content.dropFirst(rsaEncryption.count))
        // The first byte of a BIT STRING counts the unused bits; a key has none.
        guard let bits = DERNumbers.element(0x03, &content), content.isEmpty, bits.first == 0 else { return nil }
        return UnsafeRawBufferPointer(rebasing: bits.dropFirst())
    }

    /// The `AlgorithmIdentifier` of rsaEncryption with NULL parameters, in DER.
    private static let rsaEncryption: [UInt8] = [
        0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
    ]
}
