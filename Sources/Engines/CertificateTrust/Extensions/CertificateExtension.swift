// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// One extension of a certificate (RFC 5280, section 4.2), supported or not.
public struct CertificateExtension: Sendable {
    public let identifier: ObjectIdentifier
    public let isCritical: Bool
    /// The content of the `OCTET STRING`.
    public let value: ArraySlice<UInt8>

    init(_ node: ASN1Node) throws {
        self = try DER.sequence(node, identifier: .sequence) { nodes in
            let identifier = try ObjectIdentifier(from: &nodes)
            let isCritical = try DER.decodeDefault(&nodes, defaultValue: false)
            let value = try ASN1OctetString(derEncoded: &nodes)
            return CertificateExtension(identifier: identifier, isCritical: isCritical, value: value.bytes)
        }
    }

    private init(identifier: ObjectIdentifier, isCritical: Bool, value: ArraySlice<UInt8>) {
        self.identifier = identifier
        self.isCritical = isCritical
        self.value = value
    }
}
