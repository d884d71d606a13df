// SPDX-License-Identifier: Apache-2.0

/// The content of a PKCS #12 file (RFC 7292): certificates and private keys with their attributes.
public struct PKCS12Archive: Sendable {
    /// The attributes of a bag.
    public struct Attributes: Hashable, Sendable {
        /// The name that users see.
        public var friendlyName: String?
        /// An identifier that a key and its certificate have in common.
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
    /// The other kinds of entries that the file has, each once, such as `secrets of applications`.
    public internal(set) var skippedKinds: [String] = []

    public init() {}
}
