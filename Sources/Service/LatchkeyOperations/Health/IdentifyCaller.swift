// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// Returns the facts that the daemon knows about its caller, and the caller's access groups.
package struct IdentifyCaller: KeychainOperation {
    package init() {}

    package static let traits: OperationTraits = .worksWithoutLog

    package var audit: AuditDetails? { nil }

    package func run(in context: some OperationContext) throws(KeychainError) -> CallerReport {
        AccessPolicy.report(on: context.caller, facts: try context.callerFacts())
    }
}

extension CallerReport: ResponseContent {}

extension OperationPerformer {
    /// Returns the facts that the keychain knows about its caller, and the caller's access groups.
    package func callerReport() throws(KeychainError) -> CallerReport { try perform(IdentifyCaller()) }
}

// MARK: Coding

extension IdentifyCaller {
    init(_ wire: WireNothing) throws(WireError) { try requireKnown(wire) }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation { .who(WireNothing()) }
}

extension CallerReport {
    init(_ wire: WireCallerReport) throws(WireError) {
        try requireKnown(wire)
        self.init(groups: [], hasAllGroups: wire.hasAllGroups_p, reason: wire.reason)
        for fact in wire.facts {
            try requireKnown(fact)
            facts.append(
                Fact(fact.name, fact.value, try AccessGroup.Grade(wire: fact.grade), source: fact.source))
        }
        for group in wire.groups {
            try requireKnown(group)
            groups.append(AccessGroup(group.name, grade: try AccessGroup.Grade(wire: group.grade)))
        }
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireResponse.OneOf_Content {
        var wire = WireCallerReport()
        wire.facts = facts.map { fact in
            var own = WireCallerReport.Fact()
            own.name = fact.name
            own.value = fact.value
            own.grade = UInt32(fact.grade.rawValue)
            own.source = fact.source
            return own
        }
        wire.groups = groups.map { group in
            var own = WireCallerReport.Group()
            own.name = group.name
            own.grade = UInt32(group.grade.rawValue)
            return own
        }
        wire.hasAllGroups_p = hasAllGroups
        wire.reason = reason
        return .caller(wire)
    }
}
