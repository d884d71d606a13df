// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// Checks the codes of the audit log, to detect changed or missing lines.
package struct VerifyLog: KeychainOperation {
    package init() {}

    package static let traits: OperationTraits = [.administers, .worksWithoutLog]

    package var audit: AuditDetails? { nil }

    package func run(in context: some OperationContext) throws(KeychainError) -> AuditVerification {
        let log = try context.requireLog()
        return try context.slow(.computation) { () throws(KeychainError) in try log.verify() }
    }
}

extension AuditVerification: ResponseContent {}

extension OperationPerformer {
    /// Checks the codes of the audit log, to detect changed or missing lines.
    ///
    /// - Throws: errSecNotAvailable if no log is kept.
    package func verifyAudit() throws(KeychainError) -> AuditVerification { try perform(VerifyLog()) }
}

// MARK: Coding

extension VerifyLog {
    init(_ wire: WireNothing) throws(WireError) { try requireKnown(wire) }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation { .verifyLog(WireNothing()) }
}

extension AuditVerification {
    init(_ wire: WireLogVerdict) throws(WireError) {
        try requireKnown(wire)
        self.init(
            isIntact: wire.isIntact, lines: try number(wire.lines, "a number of lines"),
            firstWrong: wire.hasFirstWrong ? wire.firstWrong : nil, detail: wire.detail)
        for removal in wire.removals { removals.append(try AuditRemoval(removal)) }
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireResponse.OneOf_Content {
        var wire = WireLogVerdict()
        wire.isIntact = isIntact
        wire.lines = UInt64(lines)
        if let first = firstWrong { wire.firstWrong = first }
        wire.detail = detail
        wire.removals = removals.map { $0.wire }
        return .logVerdict(wire)
    }
}

extension AuditRemoval {
    fileprivate init(_ wire: WireLogVerdict.Removal) throws(WireError) {
        try requireKnown(wire)
        guard let reason = Reason(rawValue: wire.reason) else {
            throw .malformed("unknown reason '\(wire.reason)' for a removal of lines")
        }
        self.init(
            reason, first: wire.first, last: wire.last, lines: wire.lines, since: wire.hasSince ? wire.since : nil,
            until: wire.hasUntil ? wire.until : nil, removed: wire.hasRemoved ? wire.removed : nil)
    }

    fileprivate var wire: WireLogVerdict.Removal {
        var wire = WireLogVerdict.Removal()
        wire.reason = reason.rawValue
        wire.first = first
        wire.last = last
        wire.lines = lines
        if let since { wire.since = since }
        if let until { wire.until = until }
        if let removed { wire.removed = removed }
        return wire
    }
}
