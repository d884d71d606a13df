// SPDX-License-Identifier: Apache-2.0

/// A version of TLS. SSL 3 and older are not versions here, so they are below every minimum.
public enum TLSVersion: String, Hashable, Sendable, CaseIterable {
    // The names of `NSExceptionMinimumTLSVersion`, and of OpenSSL and BoringSSL except the first.
    case tls10 = "TLSv1.0"
    case tls11 = "TLSv1.1"
    case tls12 = "TLSv1.2"
    case tls13 = "TLSv1.3"

    /// The version with a name that OpenSSL and BoringSSL use; nil for any other.
    public init?(negotiated name: String) {
        if name == "TLSv1" { self = .tls10 } else { self.init(rawValue: name) }
    }

    /// The version with a number of the protocol (RFC 8446, section 4.2.1); nil for any other.
    public init?(wireVersion: UInt16) {
        switch wireVersion {
        case 0x0301: self = .tls10
        case 0x0302: self = .tls11
        case 0x0303: self = .tls12
        case 0x0304: self = .tls13
        default: return nil
        }
    }

    public var wireVersion: UInt16 {
        switch self {
        case .tls10: 0x0301
        case .tls11: 0x0302
        case .tls12: 0x0303
        case .tls13: 0x0304
        }
    }
}

// MARK: Comparable

extension TLSVersion: Comparable {
    public static func < (left: Self, right: Self) -> Bool { left.wireVersion < right.wireVersion }
}

// MARK: CustomStringConvertible

extension TLSVersion: CustomStringConvertible {
    public var description: String { rawValue }
}
