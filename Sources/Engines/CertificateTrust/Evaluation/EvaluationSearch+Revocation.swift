// SPDX-License-Identifier: Apache-2.0

internal import Dispatch

extension EvaluationSearch {
    /// The verdict with the revocation evidence that was given, is on disk, or can be fetched.
    mutating func verdictWithRevocation(_ options: RevocationOptions) -> TrustVerdict {
        var information = evaluation.revocation
        if options.allows(.lists) { information = information.adding(evaluation.systemAnchors.revocationLists()) }
        if let fetcher = evaluation.fetcher, !options.contains(.isOffline) {
            information = fetching(information, options, fetcher)
        }
        return verdict(options, information)
    }

    /// Adds fetched evidence for the chains that are trusted if no certificate is revoked.
    private mutating func fetching(
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
            let unknown = revocationResults(of: verdict, options, information).filter(\.result.isUnknown).map(\.link)
            let missing = unknown.filter { queriedCertificates.insert($0.certificate).inserted }
            guard !missing.isEmpty else { break }
            information = information.adding(
                fetcher.information(about: missing, options, at: evaluation.validationTime, until: deadline))
        }
        return information
    }

    /// The revocation result of each certificate below the anchor of a trusted chain.
    func revocationResults(
        of verdict: TrustVerdict, _ options: RevocationOptions?, _ information: RevocationInformation
    ) -> [(link: RevocationFetcher.CertificateAndIssuer, result: RevocationResult)] {
        guard verdict.isTrusted else { return [] }
        var budget = WorkBudget()
        return zip(verdict.chain, verdict.chain.dropFirst()).map { certificate, issuer in
            let result = try? information.result(about: certificate, of: issuer, options, verifier, &budget)
            return (
                RevocationFetcher.CertificateAndIssuer(certificate: certificate, issuer: issuer),
                result ?? RevocationResult()
            )
        }
    }
}
