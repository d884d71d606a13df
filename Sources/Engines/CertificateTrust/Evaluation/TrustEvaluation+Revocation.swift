// SPDX-License-Identifier: Apache-2.0

internal import Dispatch

extension TrustEvaluation {
    /// The verdict by what was given, what lies on the disk and what can be fetched.
    func verdictWithRevocation() -> TrustVerdict {
        let options = revocationOptions ?? []
        var information = revocation
        if options.allows(.lists) { information = information.adding(systemAnchors.revocationLists()) }
        if let fetcher, !options.contains(.isOffline) { information = fetching(information, options, fetcher) }
        return verdict(options, information)
    }

    /// All that is known of the chains that would be trusted, were nothing known against them.
    private func fetching(
        _ information: RevocationInformation, _ options: RevocationOptions, _ fetcher: RevocationFetcher
    ) -> RevocationInformation {
        let deadline = DispatchTime.now() + .seconds(fetcher.timeout)
        var information = information
        var queriedCertificates: Set<Certificate> = []
        // Another chain is found where one has a revoked certificate in it.
        while DispatchTime.now() < deadline {
            let verdict = verdict(options.subtracting(.requiresPositiveResponse), information)
            // What is trusted although something is wrong is not for others to know.
            guard verdict.isTrusted, verdict.failures.isEmpty else { break }
            let unknown = verdict.revocationResults(information, options).filter(\.result.isUnknown).map(\.link)
            let missing = unknown.filter { queriedCertificates.insert($0.certificate).inserted }
            guard !missing.isEmpty else { break }
            information = information.adding(
                fetcher.information(about: missing, options, at: validationTime, until: deadline))
        }
        return information
    }

    /// What the policies and options ask for together; nil where none does.
    var revocationOptions: RevocationOptions? {
        policies.reduce(options.revocationOptions) { options, policy in
            policy.revocationOptions.map { (options ?? []).union($0) } ?? options
        }
    }
}

extension TrustVerdict {
    /// What is known of the certificates of a trusted chain below its anchor.
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
