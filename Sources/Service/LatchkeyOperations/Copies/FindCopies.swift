// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService
package import SecretMemory

/// Finds copies of the keychain's secrets in bytes that the caller sends in parts (``SendFileContent``), after the daemon
/// has answered that it is ready. The copies that are known are sent after each part, before the next `Ready`.
package struct FindCopies: KeychainOperation {
    /// The passcode of the keychain, if one is set.
    package let passcode: SharedSecret?

    package init(passcode: SharedSecret?) { self.passcode = passcode }

    package static let traits: OperationTraits = [.administers, .accessesAllGroups]

    package var audit: AuditDetails? { AuditDetails("find-copies", includesPasscode: passcode != nil) }

    package func run(in context: some OperationContext) throws(KeychainError) -> CopyReport {
        let permit = try context.acquireSpool()
        defer { withExtendedLifetime(permit) {} }
        let service = try context.service
        let comparison = try context.slow(.derivation) { [passcode] () throws(KeychainError) in
            try service.copies.search(passcode: passcode)
        }
        try requireSent(Ready(), in: context)
        while let part = try context.nextFileContent() {
            try send(try comparison.matches(in: part), in: context)
            try requireSent(Ready(), in: context)
        }
        try send(try comparison.finish(), in: context)
        return comparison.report
    }

    private func send(_ matches: [CopyMatch], in context: some OperationContext) throws(KeychainError) {
        if !matches.isEmpty { try requireSent(FoundCopies(matches), in: context) }
    }

    private func requireSent(_ content: some ResponseContent, in context: some OperationContext) throws(KeychainError) {
        guard context.send(content) else {
            throw KeychainError(.io, "the client disconnected during the search for copies")
        }
    }
}

/// The copies that became known by the last part.
package struct FoundCopies: ResponseContent, Equatable {
    package let matches: [CopyMatch]

    package init(_ matches: [CopyMatch]) { self.matches = matches }

    package var moreFollows: Bool { true }
}

extension CopyReport: ResponseContent {
    package var auditedCount: Int { compared }
}

extension OperationPerformer {
    /// Finds copies of the keychain's secrets.
    ///
    /// - Parameters:
    ///   - passcode: the passcode of the keychain, if one is set.
    ///   - next: returns the next bytes, at most `StoredFilePart.maxLength`, and except for the last ones at least
    ///     `CopyComparison.minPieceLength`; an empty part at the end.
    ///   - found: called with the copies that became known.
    package func findCopies(
        passcode: SharedSecret?, next: @escaping () throws(KeychainError) -> SharedSecret,
        found: @escaping ([CopyMatch]) -> Void
    ) throws(KeychainError) -> CopyReport {
        try perform(
            FindCopies(passcode: passcode),
            Exchange(
                take: { (content) throws(KeychainError) in
                    guard let copies = content as? FoundCopies else { throw .unexpectedResponse }
                    found(copies.matches)
                },
                give: { () throws(KeychainError) in SendFileContent(try next()) }))
    }
}

// MARK: Coding

extension FindCopies {
    init(_ wire: WireFindCopies, _ secrets: inout SecretTable) throws(WireError) {
        try requireKnown(wire)
        passcode = wire.hasPasscode ? try secrets.take(wire.passcode) : nil
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        var wire = WireFindCopies()
        if let passcode { wire.passcode = secrets.append(passcode) }
        return .findCopies(wire)
    }
}

extension FoundCopies {
    init(_ wire: WireFoundCopies) throws(WireError) {
        try requireKnown(wire)
        matches = try wire.matches.map { (match) throws(WireError) in
            try requireKnown(match)
            guard match.name.count <= CopiedItem.maxNameLength else {
                throw .malformed("the name of an item is too long")
            }
            return CopyMatch(
                position: match.position,
                item: CopiedItem(
                    itemClass: try ItemClass(wire: match.itemClass), name: match.name, accessGroup: match.accessGroup))
        }
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireResponse.OneOf_Content {
        var wire = WireFoundCopies()
        wire.matches = matches.map { match in
            var own = WireFoundCopies.Match()
            own.position = match.position
            own.itemClass = UInt32(match.item.itemClass.number)
            own.name = match.item.name
            own.accessGroup = match.item.accessGroup
            return own
        }
        return .foundCopies(wire)
    }
}

extension CopyReport {
    init(_ wire: WireCopyReport) throws(WireError) {
        try requireKnown(wire)
        self.init()
        compared = try number(wire.compared, "a number of items")
        locked = try number(wire.locked, "a number of items")
        guarded = try number(wire.guarded, "a number of items")
        short = try number(wire.short, "a number of items")
        common = try number(wire.common, "a number of items")
        long = try number(wire.long, "a number of items")
        damaged = try number(wire.damaged, "a number of items")
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireResponse.OneOf_Content {
        var wire = WireCopyReport()
        wire.compared = UInt64(compared)
        wire.locked = UInt64(locked)
        wire.guarded = UInt64(guarded)
        wire.short = UInt64(short)
        wire.common = UInt64(common)
        wire.long = UInt64(long)
        wire.damaged = UInt64(damaged)
        return .copyReport(wire)
    }
}
