// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import KeychainModel

/// The requirements of a verifier on a signature. RFC 9421, section 3.2.1: a signature that is valid can still be
/// useless, because it covers nothing that matters.
public struct HTTPSignaturePolicy: Sendable {
    /// The components that a signature must cover. More may be covered.
    public var requiredComponents: [HTTPComponent]
    /// The longest time since `created` in seconds; nil for any time. With a limit, `created` is
    /// required.
    public var maxAge: Int64? = 300
    /// The maximum difference between the clocks of both parties, in seconds.
    public var maxClockDifference: Int64 = 30
    /// Whether `expires` is required. If it is there, it always applies.
    public var requiresExpires = false
    /// The tag that a signature must have; nil for any.
    public var tag: String?
    /// Records a nonce, and returns whether it was not used before. With this function, `nonce` is
    /// required. It is called after the signature was verified, so that only the owner of a key can
    /// use up a nonce.
    public var recordNonce: (@Sendable (String) -> Bool)?

    /// A policy that requires these components.
    public init(requiring components: [HTTPComponent]) {
        requiredComponents = components
    }
}

/// A signature that was verified.
public struct VerifiedHTTPSignature: Sendable {
    /// The name of the signature in the message.
    public let label: String
    /// The algorithm of the key.
    public let algorithm: HTTPSignatureAlgorithm
    /// The components that the signature covers. Nothing else of the message is authentic.
    public let components: [HTTPComponent]
    /// The parameters of the signature.
    public let parameters: HTTPSignatureParameters
}

/// Verifies signatures of HTTP messages (RFC 9421, section 3.2).
///
/// ```swift
/// let policy = HTTPSignaturePolicy(requiring: [.method, .targetURI])
/// let verifier = HTTPMessageVerifier(policy) { identifier in
///     identifier == "orders-1" ? .p256(publicKey) : nil
/// }
/// let verified = try verifier.verify(message, body: body)
/// ```
public struct HTTPMessageVerifier: Sendable {
    private let policy: HTTPSignaturePolicy
    private let findKey: @Sendable (String) -> HTTPVerificationKey?

    /// A verifier.
    ///
    /// - Parameters:
    ///   - policy: the requirements on a signature.
    ///   - findKey: returns the key with this identifier. The identifier is not authentic, and is empty if the
    ///     signature has none.
    public init(_ policy: HTTPSignaturePolicy, findKey: @escaping @Sendable (String) -> HTTPVerificationKey?) {
        (self.policy, self.findKey) = (policy, findKey)
    }

    /// Verifies one signature of the message, and its body.
    ///
    /// - Parameters:
    ///   - message: the head of the received message, with its signatures.
    ///   - body: if given, the signature must cover `content-digest`, and the digest must be that of
    ///     the body.
    ///   - label: the signature to verify; nil for the only one, or the only one with the tag of the
    ///     policy.
    ///   - time: the validation time in seconds since 1970; by default, now.
    /// - Throws: `errSecParam` for a malformed message; `errSecItemNotFound` without a signature or
    ///   a known key; `errSecUnimplemented` for an algorithm that is refused;
    ///   `errSecKeyUsageIncorrect` for another algorithm than that of the key; `errSecVerifyFailed`
    ///   for a wrong signature or digest; `errSecMissingValue` for a missing component or parameter;
    ///   `errSecTimestampInvalid` if the signature is too old, expired or from the future;
    ///   `errSecDuplicateItem` for a nonce that was used.
    @discardableResult
    public func verify(
        _ message: HTTPMessageHead, body: Data? = nil, label: String? = nil,
        at time: Int64 = Int64(Date().timeIntervalSince1970)
    ) throws(KeychainError) -> VerifiedHTTPSignature {
        let received = try ReceivedSignature.find(in: message, label: label, tag: policy.tag)
        guard let key = findKey(received.parameters.keyIdentifier ?? "") else {
            throw KeychainError(.itemNotFound, "there is no key for the signature")
        }
        try received.requireAlgorithm(key.algorithm)
        try requireComponents(received)
        try requireTimes(received.parameters, at: time)
        if body != nil, !received.components.contains(.field("content-digest")) {
            throw Self.missing("the signature must cover content-digest to authenticate the body")
        }
        let base = try SignatureBase(received.components, received.structured, of: message)
        guard try key.isSignature(received.bytes, of: base.bytes) else {
            throw KeychainError(.verifyFailed, "the signature of the message is not valid")
        }
        if let body { try ContentDigest.verify(body, of: message) }
        try requireNonce(received.parameters)
        return VerifiedHTTPSignature(
            label: received.label, algorithm: key.algorithm, components: received.components,
            parameters: received.parameters)
    }

    private func requireComponents(_ received: ReceivedSignature) throws(KeychainError) {
        for component in policy.requiredComponents where !received.components.contains(component) {
            throw Self.missing("the signature must cover \(component.identifier)")
        }
    }

    private func requireTimes(_ parameters: HTTPSignatureParameters, at time: Int64) throws(KeychainError) {
        // Times of a structured field have at most 15 digits, so that no difference overflows.
        let now = min(max(time, 0), Self.maxTime)
        if let created = parameters.created {
            guard created - now <= policy.maxClockDifference else {
                throw Self.timestamp("the signature was created in the future")
            }
            if let maxAge = policy.maxAge, now - created > maxAge {
                throw Self.timestamp("the signature is \(now - created) seconds old; at most \(maxAge) are allowed")
            }
        } else if policy.maxAge != nil {
            throw Self.missing("the signature must have the parameter created")
        }
        if let expires = parameters.expires {
            guard now - expires < policy.maxClockDifference else { throw Self.timestamp("the signature has expired") }
            guard expires >= parameters.created ?? 0 else {
                throw Self.timestamp("the signature expires before it was created")
            }
        } else if policy.requiresExpires {
            throw Self.missing("the signature must have the parameter expires")
        }
    }

    private func requireNonce(_ parameters: HTTPSignatureParameters) throws(KeychainError) {
        guard let recordNonce = policy.recordNonce else { return }
        guard let nonce = parameters.nonce, !nonce.isEmpty else {
            throw Self.missing("the signature must have the parameter nonce")
        }
        guard recordNonce(nonce) else { throw KeychainError(.duplicateItem, "the nonce of the signature was used") }
    }

    private static func missing(_ problem: String) -> KeychainError {
        KeychainError(OSStatusCode(rawValue: -67871), problem)  // errSecMissingValue
    }

    private static func timestamp(_ problem: String) -> KeychainError {
        KeychainError(OSStatusCode(rawValue: -67883), problem)  // errSecTimestampInvalid
    }

    private static let maxTime: Int64 = 1_000_000_000_000_000
}
