// SPDX-License-Identifier: Apache-2.0

/// No certificate below the anchor is revoked (RFC 5280, section 6.3; RFC 6960), as far as what was given says so.
struct RevocationRule: ChainRule {
    let information: RevocationInformation
    /// Nil where nobody asked: then what was given counts, and nothing is required.
    let options: RevocationOptions?
    let moment: Double

    func check(_ chain: Chain, _ budget: inout WorkBudget) throws(TrustFailure) {
        for (index, certificate) in chain.certificates.dropLast().enumerated() {
            try check(certificate, issuer: chain.certificates[index + 1], at: index, &budget)
        }
    }

    private func check(_ certificate: Certificate, issuer: Certificate, at index: Int, _ budget: inout WorkBudget) throws(TrustFailure) {
        var (isGood, reasons): (Bool, [String]) = (false, [])
        let mayUse = { (option: RevocationOptions) in
            options?.isDisjoint(with: [.ocsp, .lists]) ?? true || options?.contains(option) == true
        }
        var questions: [(Certificate, Certificate, Double) -> RevocationStatus] = []
        if mayUse(.ocsp) { questions += information.responses.map { $0.status(of:issuer:at:) } }
        if mayUse(.lists) { questions += information.lists.map { $0.status(of:issuer:at:) } }
        for question in questions {
            // Two signatures at most: the delegate's and the response's.
            try budget.spend(WorkBudget.signatureCheck, 2)
            switch question(certificate, issuer, moment) {
            case .good: isGood = true
            case .revoked(let time): throw TrustFailure(.revoked, at: index, "it was revoked at \(time)")
            case .unknown(let reason): reasons.append(reason)
            }
        }
        guard !isGood, options?.contains(.requiresPositiveResponse) == true else { return }
        let reason = reasons.isEmpty ? "" : ": \(reasons.joined(separator: "; "))"
        throw TrustFailure(.revocationUnknown, at: index, "nothing says that it is not revoked\(reason)")
    }
}
