// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// Whether a certificate is an authority's, and how far below it others may issue (RFC 5280, section 4.2.1.9).
public struct BasicConstraints: Hashable, Sendable {
    public let isCA: Bool
    /// How many intermediates may follow; nil where there is no bound.
    public let pathLength: Int?

    init(_ node: ASN1Node) throws {
        self = try DER.sequence(node, identifier: .sequence) { nodes in
            let isCA = try DER.decodeDefault(&nodes, defaultValue: false)
            let pathLength = try nodes.next().map { try $0.number() }
            guard isCA || pathLength == nil else {
                throw CertificateError("a path length stands in a certificate of no authority")
            }
            return BasicConstraints(isCA: isCA, pathLength: pathLength)
        }
    }

    private init(isCA: Bool, pathLength: Int?) {
        self.isCA = isCA
        self.pathLength = pathLength
    }
}
