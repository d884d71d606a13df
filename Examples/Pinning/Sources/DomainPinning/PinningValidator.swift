// SPDX-License-Identifier: Apache-2.0

import Foundation
import PinningDelegates
import Security

public enum TSKTrustDecision: Sendable {
    case shouldAllowConnection
    case shouldBlockConnection
    case domainNotPinned
}

/// Evaluates servers with the pins of the app.
public final class PinningValidator: Sendable {
    private let domains: [PinnedDomain]
    private let report: @Sendable (PinningReport) -> Void

    init(_ domains: [PinnedDomain], _ report: @escaping @Sendable (PinningReport) -> Void) {
        (self.domains, self.report) = (domains, report)
    }

    /// Answers the challenge if it is about a server with pins.
    ///
    /// - Returns: whether the completion handler was called.
    public func handle(
        _ challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) -> Bool {
        let space = challenge.protectionSpace
        guard space.authenticationMethod == NSURLAuthenticationMethodServerTrust, let trust = space.serverTrust else {
            return false
        }
        switch evaluateTrust(trust, forHostname: space.host) {
        case .shouldAllowConnection: completionHandler(.useCredential, URLCredential(trust: trust))
        case .shouldBlockConnection: completionHandler(.cancelAuthenticationChallenge, nil)
        case .domainNotPinned: return false
        }
        return true
    }

    public func evaluateTrust(_ serverTrust: SecTrust, forHostname hostname: String) -> TSKTrustDecision {
        guard let domain = PinnedDomain.find(hostname, in: domains), domain.expiration.map({ Date() < $0 }) ?? true
        else { return .domainNotPinned }
        SecTrustSetPolicies(serverTrust, SecPolicyCreateSSL(true, hostname as CFString))
        guard SecTrustEvaluateWithError(serverTrust, nil) else { return .shouldBlockConnection }
        let chain = SecTrustCopyCertificateChain(serverTrust) as? [SecCertificate] ?? []
        let served = chain.compactMap { PublicKeyHash.sha256(of: $0) }
        if !domain.hashes.isDisjoint(with: served) { return .shouldAllowConnection }
        report(
            PinningReport(
                hostname: hostname, notedHostname: domain.name, isEnforced: domain.isEnforced,
                knownPins: domain.hashes, servedPins: served, reportURIs: domain.reportURIs))
        return domain.isEnforced ? .shouldBlockConnection : .shouldAllowConnection
    }
}
