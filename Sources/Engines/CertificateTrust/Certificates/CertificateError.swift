// SPDX-License-Identifier: Apache-2.0

/// Bytes that are not what they should be: a certificate, or a part of one.
public struct CertificateError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was expected and what was found.
    public let description: String

    init(_ description: String) { self.description = description }
}
