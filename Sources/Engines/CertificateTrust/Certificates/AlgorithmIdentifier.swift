// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// An algorithm, supported or not, and its parameters (RFC 5280, section 4.1.1.2).
public struct AlgorithmIdentifier: Hashable, Sendable {
    public let algorithm: ObjectIdentifier
    /// The DER element of the parameters; nil if they are absent (different from `NULL`).
    public let parameters: ArraySlice<UInt8>?

    init(_ node: ASN1Node) throws {
        self = try DER.sequence(node, identifier: .sequence) { nodes in
            AlgorithmIdentifier(algorithm: try ObjectIdentifier(from: &nodes), parameters: nodes.next()?.encodedBytes)
        }
    }

    /// Reads a DER `SEQUENCE` without trailing bytes.
    package init(der: ArraySlice<UInt8>) throws(CertificateError) {
        let members = try DERReader.members(of: der)
        guard let first = members.first, first.tag == 0x06, members.count <= 2 else {
            throw CertificateError("an AlgorithmIdentifier must be an object identifier and its parameters")
        }
        self.init(
            algorithm: try ObjectIdentifier(content: first.content), parameters: members.dropFirst().first?.encoded)
    }

    package init(algorithm: ObjectIdentifier, parameters: ArraySlice<UInt8>?) {
        self.algorithm = algorithm
        self.parameters = parameters
    }

    /// Whether the parameters are absent or `NULL`.
    public var hasNoParameters: Bool { parameters.map { Array($0) == [0x05, 0x00] } ?? true }
}
