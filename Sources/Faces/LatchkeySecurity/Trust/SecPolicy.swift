// SPDX-License-Identifier: Apache-2.0

internal import CertificateTrust
public import Foundation

/// Rules that a certificate chain is judged by.
///
/// Not made by its initialiser but by the `SecPolicyCreate…` functions. Immutable; two are equal when they are the same rules.
public final class SecPolicy: NSObject, Sendable {
    /// A ``PolicyBox``, whose type is not for clients to know.
    private let content: any AnyObject & Sendable

    init(_ policy: TrustPolicy) {
        content = PolicyBox(policy)
        super.init()
    }

    var policy: TrustPolicy { unsafeDowncast(content, to: PolicyBox.self).policy }

    public override func isEqual(_ object: Any?) -> Bool { (object as? SecPolicy)?.policy == policy }

    public override var hash: Int { policy.hashValue }

    /// The policy in words, such as `<SecPolicy: the TLS server example.com>`.
    public override var description: String { "<SecPolicy: \(policy)>" }
}

/// Carries a `TrustPolicy` behind a type that clients may know.
private final class PolicyBox: Sendable {
    let policy: TrustPolicy
    init(_ policy: TrustPolicy) { self.policy = policy }
}

extension SecPolicy: CoreFoundationType {
    static var typeID: CFTypeID { TypeIdentifier.policy.rawValue }
}

/// What `CFGetTypeID` gives for a `SecPolicy`.
@discardableResult
public func SecPolicyGetTypeID() -> CFTypeID {
    SecPolicy.typeID
}

// MARK: Making policies

/// RFC 5280 alone: the chain leads to an anchor. Names no server, so that any certificate of anybody passes.
@discardableResult
public func SecPolicyCreateBasicX509() -> SecPolicy {
    SecPolicy(.basicX509)
}

/// A server or a client of TLS.
///
/// - Parameters:
///   - server: true for the certificate of a server, false for that of a client.
///   - hostname: the host or the IP address that the certificate has to name among its alternative names; internationalised labels in
///     their A-form. Nil asks for nobody in particular. A name that no host can have matches no certificate.
@discardableResult
public func SecPolicyCreateSSL(_ server: Bool, _ hostname: CFString?) -> SecPolicy {
    let name = hostname.map { ServerName(requested: $0 as String) }
    return SecPolicy(server ? .server(name) : .client(name))
}

/// That no certificate was revoked, beside the other policies of a trust object.
///
/// What is looked at is what ``SecTrustSetOCSPResponse(_:_:)`` was given, then lists among the system's anchors (as `openssl rehash` names them), and
/// last, for a chain that is trusted otherwise, what the places that its certificates name answer over HTTP, within ten seconds; nobody is asked
/// with `kSecRevocationNetworkAccessDisabled` or `SecTrustSetNetworkFetchAllowed(trust, false)`. Where nothing is known the certificate is trusted.
///
/// - Parameter revocationFlags: `kSecRevocation…`; with `kSecRevocationRequirePositiveResponse` nothing is trusted of which nothing is known.
/// - Returns: nil for flags that are not known.
@discardableResult
public func SecPolicyCreateRevocation(_ revocationFlags: CFOptionFlags) -> SecPolicy? {
    let options = RevocationOptions(rawValue: revocationFlags)
    return options.isUnderstood ? SecPolicy(.revocation(options)) : nil
}
