// SPDX-License-Identifier: Apache-2.0

/// The error for bytes that are not a valid certificate, or not a valid part of one.
public struct CertificateError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error text, with the expected and the found value.
    public let description: String

    init(_ description: String) { self.description = description }
}
