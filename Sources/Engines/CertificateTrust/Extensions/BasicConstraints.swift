// SPDX-License-Identifier: Apache-2.0

internal import SwiftASN1

/// Whether the certificate is a CA's, and how many intermediates may follow it (RFC 5280, section
/// 4.2.1.9).
public struct BasicConstraints: Hashable, Sendable {
    public let isCA: Bool
    /// The maximum number of intermediates below this CA; nil if there is no limit.
    public let pathLength: Int?

    init(_ node: ASN1Node) throws {
        self = try DER.sequence(node, identifier: .sequence) { nodes in
            let isCA = try DER.decodeDefault(&nodes, defaultValue: false)
            let pathLength = try nodes.next().map { try $0.number() }
            guard isCA || pathLength == nil else {
                throw CertificateError("a path length constraint in a certificate that is not a CA's")
            }
            return BasicConstraints(isCA: isCA, pathLength: pathLength)
        }
    }

    private init(isCA: Bool, pathLength: Int?) {
        self.isCA = isCA
        self.pathLength = pathLength
    }
}
