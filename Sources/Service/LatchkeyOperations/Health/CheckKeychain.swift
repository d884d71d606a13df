// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// Checks permissions, tables, every row and the free space. If the keychain cannot be opened, it reports the reason,
/// and the steps that lead back to its items.
package struct CheckKeychain: KeychainOperation {
    package init() {}

    package static let traits: OperationTraits = [.administers, .worksWithoutKeychain]

    package var audit: AuditDetails? { AuditDetails("check") }

    package func run(in context: some OperationContext) throws(KeychainError) -> Findings {
        let progress = context.progress
        let service: EmbeddedService
        do throws(KeychainError) {
            service = try context.service
        } catch {
            let (problem, rescue) = (error, try context.rescue)
            return try context.slow(.computation) { () throws(KeychainError) in Findings(try rescue.diagnose(problem)) }
        }
        return try context.slow(.computation) { () throws(KeychainError) in
            Findings(try service.check { progress($0, 0) })
        }
    }
}

/// The findings of a check of the keychain.
package struct Findings: ResponseContent {
    package let findings: [KeychainFinding]

    package init(_ findings: [KeychainFinding]) { self.findings = findings }
}

extension OperationPerformer {
    /// Checks permissions, tables, every row and the free space.
    ///
    /// - Parameter progress: called with the number of rows checked.
    package func check(progress: @escaping @Sendable (Int) -> Void) throws(KeychainError) -> [KeychainFinding] {
        try perform(CheckKeychain(), Exchange(progress: { done, _ in progress(done) })).findings
    }
}

// MARK: Coding

extension CheckKeychain {
    init(_ wire: WireNothing) throws(WireError) { try requireKnown(wire) }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation { .check(WireNothing()) }
}

extension Findings {
    init(_ wire: WireFindings) throws(WireError) {
        try requireKnown(wire)
        var findings: [KeychainFinding] = []
        for finding in wire.findings {
            try requireKnown(finding)
            findings.append(
                KeychainFinding(
                    finding.subject, isHealthy: finding.isHealthy, detail: finding.detail,
                    hint: finding.hasHint ? finding.hint : nil, steps: finding.steps))
        }
        self.findings = findings
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireResponse.OneOf_Content {
        var wire = WireFindings()
        wire.findings = findings.map { finding in
            var own = WireFindings.Finding()
            own.subject = finding.subject
            own.isHealthy = finding.isHealthy
            own.detail = finding.detail
            if let hint = finding.hint { own.hint = hint }
            own.steps = finding.steps
            return own
        }
        return .findings(wire)
    }
}
