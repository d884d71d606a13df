// SPDX-License-Identifier: Apache-2.0

/// What a PKCS #12 file holds (RFC 7292): certificates and private keys, each with its attributes.
public struct PKCS12Archive: Sendable {
    /// The attributes of a bag.
    public struct Attributes: Hashable, Sendable {
        /// For people.
        public var friendlyName: String?
        /// The same for a key and its certificate.
        public var localKeyID: [UInt8]?

        public init(friendlyName: String? = nil, localKeyID: [UInt8]? = nil) {
            self.friendlyName = friendlyName
            self.localKeyID = localKeyID
        }
    }

    public struct CertificateEntry: Sendable {
        public let der: [UInt8]
        public let attributes: Attributes

        public init(der: [UInt8], attributes: Attributes) {
            self.der = der
            self.attributes = attributes
        }
    }

    public struct KeyEntry: Sendable {
        public let key: DecodedKey
        public let attributes: Attributes

        public init(key: DecodedKey, attributes: Attributes) {
            self.key = key
            self.attributes = attributes
        }
    }

    /// In the order of the file.
    public var certificates: [CertificateEntry] = []
    public var keys: [KeyEntry] = []

    public init() {}
}
