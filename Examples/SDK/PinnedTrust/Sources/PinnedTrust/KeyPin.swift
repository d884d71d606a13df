// SPDX-License-Identifier: Apache-2.0

import CommonCrypto
import Foundation
import Security

/// The SHA-256 of a public key.
public struct KeyPin: Hashable, CustomStringConvertible {
    private let digest: Data

    /// - Parameter publicKey: the bytes of `SecKeyCopyExternalRepresentation`.
    public init(publicKey: Data) {
        var digest = [UInt8](repeating: 0, count: Int(CC_SHA256_DIGEST_LENGTH))
        publicKey.withUnsafeBytes { bytes in
            _ = CC_SHA256(bytes.baseAddress, CC_LONG(bytes.count), &digest)
        }
        self.digest = Data(digest)
    }

    /// Creates the pin of a certificate; nil if its key is not supported.
    public init?(of certificate: SecCertificate) {
        guard let key = SecCertificateCopyKey(certificate),
            let publicKey = SecKeyCopyExternalRepresentation(key, nil) as Data?
        else { return nil }
        self.init(publicKey: publicKey)
    }

    /// The digest in base 64.
    public var description: String {
        digest.base64EncodedString()
    }
}
