// SPDX-License-Identifier: Apache-2.0

/// What was given about revocation.
public struct RevocationInformation: Sendable {
    public var lists: [CertificateRevocationList] = []
    public var responses: [OCSPResponse] = []

    public init() {}

    var isEmpty: Bool { lists.isEmpty && responses.isEmpty }
}
