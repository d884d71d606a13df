// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
public import Foundation

/// The rules for the evaluation of a certificate chain.
///
/// Policies are created by the `SecPolicyCreate…` functions, not with an initializer. Immutable.
/// Two policies are equal if their rules are equal.
public final class SecPolicy: NSObject, Sendable {
    /// A ``PolicyBox``, in a form that hides its type from clients.
    private let content: any AnyObject & Sendable

    init(_ policy: TrustPolicy) {
        content = PolicyBox(policy)
        super.init()
    }

    var policy: TrustPolicy { unsafeDowncast(content, to: PolicyBox.self).policy }

    /// Whether the other object stands for the same content.
    public override func isEqual(_ object: Any?) -> Bool { (object as? SecPolicy)?.policy == policy }

    /// A hash; equal objects have equal hashes.
    public override var hash: Int { policy.hashValue }

    /// A description of the policy, such as `<SecPolicy: the TLS server example.com>`.
    public override var description: String { "<SecPolicy: \(policy)>" }
}

/// Holds a `TrustPolicy`, because the public type cannot name it.
private final class PolicyBox: Sendable {
    let policy: TrustPolicy
    init(_ policy: TrustPolicy) { self.policy = policy }
}

extension SecPolicy: CoreFoundationType {
    static var typeID: CFTypeID { TypeIdentifier.policy.rawValue }
}

/// Returns the type identifier of `SecPolicy`, for comparison with `CFGetTypeID`.
@discardableResult
public func SecPolicyGetTypeID() -> CFTypeID {
    SecPolicy.typeID
}

// MARK: Creation

/// Returns the policy of RFC 5280 only: the chain leads to an anchor. It does not name a server, so
/// a certificate of any owner passes.
@discardableResult
public func SecPolicyCreateBasicX509() -> SecPolicy {
    SecPolicy(.basicX509)
}

/// Returns the policy for a TLS server or a TLS client.
///
/// - Parameters:
///   - server: true for the certificate of a server, false for that of a client.
///   - hostname: the host or the IP address that the certificate's subject alternative names must
///     contain; internationalized labels in their A-form. Nil accepts any name. A syntactically
///     invalid host name matches no certificate.
@discardableResult
public func SecPolicyCreateSSL(_ server: Bool, _ hostname: CFString?) -> SecPolicy {
    let name = hostname.map { ServerName(requested: $0 as String) }
    return SecPolicy(server ? .server(name) : .client(name))
}

/// Returns the policy that no certificate is revoked. It is added to the other policies of a trust
/// object.
///
/// The evaluation uses, in this order: the responses passed to ``SecTrustSetOCSPResponse(_:_:)``;
/// CRLs among the system's anchors (with file names as `openssl rehash` makes them); and, for a
/// chain that is otherwise trusted, HTTP responses from the URLs in its certificates, within ten
/// seconds. `kSecRevocationNetworkAccessDisabled` and
/// `SecTrustSetNetworkFetchAllowed(trust, false)` disable the network. A certificate without
/// revocation evidence is trusted.
///
/// - Parameter revocationFlags: `kSecRevocation…`. With `kSecRevocationRequirePositiveResponse` the
///   evaluation fails unless every certificate is confirmed not revoked.
/// - Returns: nil for unknown flags.
@discardableResult
public func SecPolicyCreateRevocation(_ revocationFlags: CFOptionFlags) -> SecPolicy? {
    let options = RevocationOptions(rawValue: revocationFlags)
    return options.isUnderstood ? SecPolicy(.revocation(options)) : nil
}
