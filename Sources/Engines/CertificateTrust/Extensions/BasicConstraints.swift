// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// Whether a certificate is an authority's, and how far below it others may issue (RFC 5280, section 4.2.1.9).
public struct BasicConstraints: Hashable, Sendable {
    public let isAuthority: Bool
    /// How many intermediates may follow; nil where there is no bound.
    public let pathLength: Int?

    init(_ node: ASN1Node) throws {
        self = try DER.sequence(node, identifier: .sequence) { nodes in
            let isAuthority = try DER.decodeDefault(&nodes, defaultValue: false)
            let pathLength = try nodes.next().map { try $0.number() }
            guard isAuthority || pathLength == nil else { throw CertificateError("a path length stands in a certificate of no authority") }
            return BasicConstraints(isAuthority: isAuthority, pathLength: pathLength)
        }
    }

    private init(isAuthority: Bool, pathLength: Int?) {
        self.isAuthority = isAuthority
        self.pathLength = pathLength
    }
}
