// SPDX-License-Identifier: Apache-2.0

internal import Dispatch

extension TrustEvaluation {
    /// The verdict with the revocation evidence that was given, is on disk, or can be fetched.
    func verdictWithRevocation() -> TrustVerdict {
        let options = revocationOptions ?? []
        var information = revocation
        if options.allows(.lists) { information = information.adding(systemAnchors.revocationLists()) }
        if let fetcher, !options.contains(.isOffline) { information = fetching(information, options, fetcher) }
        return verdict(options, information)
    }

    /// Adds fetched evidence for the chains that are trusted if no certificate is revoked.
    private func fetching(
        _ information: RevocationInformation, _ options: RevocationOptions, _ fetcher: RevocationFetcher
    ) -> RevocationInformation {
        let deadline = DispatchTime.now() + .seconds(fetcher.timeout)
        var information = information
        var queriedCertificates: Set<Certificate> = []
        // If a chain has a revoked certificate, the next round finds another chain.
        while DispatchTime.now() < deadline {
            let verdict = verdict(options.subtracting(.requiresPositiveResponse), information)
            // For privacy, nothing is fetched for a chain that is trusted despite ignored failures.
            guard verdict.isTrusted, verdict.failures.isEmpty else { break }
            let unknown = verdict.revocationResults(information, options).filter(\.result.isUnknown).map(\.link)
            let missing = unknown.filter { queriedCertificates.insert($0.certificate).inserted }
            guard !missing.isEmpty else { break }
            information = information.adding(
                fetcher.information(about: missing, options, at: validationTime, until: deadline))
        }
        return information
    }

    /// The union of the revocation options of all policies and of ``options``; nil if there are
    /// none.
    var revocationOptions: RevocationOptions? {
        policies.reduce(options.revocationOptions) { options, policy in
            policy.revocationOptions.map { (options ?? []).union($0) } ?? options
        }
    }
}

extension TrustVerdict {
    /// The revocation result of each certificate below the anchor of a trusted chain.
    func revocationResults(
        _ information: RevocationInformation, _ options: RevocationOptions?
    ) -> [(link: RevocationFetcher.CertificateAndIssuer, result: RevocationResult)] {
        guard isTrusted else { return [] }
        var budget = WorkBudget()
        return zip(chain, chain.dropFirst()).map { certificate, issuer in
            let result = try? information.result(about: certificate, of: issuer, options, at: validationTime, &budget)
            return (
                RevocationFetcher.CertificateAndIssuer(certificate: certificate, issuer: issuer),
                result ?? RevocationResult()
            )
        }
    }
}
