// SPDX-License-Identifier: Apache-2.0

/// A kind of secret.
public struct SecretKind: Hashable, Sendable {
    /// Lowercase, with hyphens: part of outputs, baselines and configuration.
    public let id: String
    /// For people, such as "GitHub token".
    public let title: String

    init(_ id: String, _ title: String) { (self.id, self.title) = (id, title) }

    // MARK: Kinds without a fixed form of their own

    static let namedValue = SecretKind("named-value", "password or secret")
    static let privateKey = SecretKind("private-key", "private key that is not encrypted")
    static let webToken = SecretKind("json-web-token", "JSON Web Token")
    static let connection = SecretKind("connection-password", "password in a URL")
    static let authorization = SecretKind("authorization-header", "credentials of an HTTP header")
    static let argument = SecretKind("command-argument", "password in a command line")
    static let passwordFile = SecretKind("password-file", "password in a file of passwords")
    static let keyArchive = SecretKind("pkcs12", "private key in a PKCS #12 file with a weak password or none")

    /// Every kind, in the order of the documentation.
    public static let all: [SecretKind] =
        [
            namedValue, privateKey, webToken, connection, authorization, argument, passwordFile, keyArchive,
        ] + TokenForm.all.map(\.kind).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
}
