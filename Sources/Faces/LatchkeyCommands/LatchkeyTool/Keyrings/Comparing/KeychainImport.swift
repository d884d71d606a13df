// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyService
internal import SecretMemory

/// The result of an import: the report, and the reason for an early end.
struct ImportOutcome {
    let report: ImportReport
    /// The status of the first thing that was left out by a failure; nil if everything was read.
    let omissionStatus: OSStatusCode?
    /// Why the rest was not done; nil if there is none.
    let failure: CommandFailure?
}

/// The addition of a source's new items to the keychain.
struct KeychainImport {
    private let source: any ImportSource
    private let destination: ImportDestination
    private let dryRun: Bool

    /// - Parameter dryRun: whether the keychain is only compared.
    init(from source: any ImportSource, into destination: ImportDestination, dryRun: Bool) {
        (self.source, self.destination, self.dryRun) = (source, destination, dryRun)
    }

    /// - Throws: if the source could not be read at all; then nothing was added.
    func run(_ progress: ProgressLine) throws(CommandFailure) -> ImportOutcome {
        defer { progress.clear() }
        let contents = try source.contents(progress)
        var log = ImportLog(ImportReport(source.name, contents, dryRun: dryRun), contents)
        let (groups, excess) = ItemGroup.groups(of: contents)
        for item in excess { log.omit(item, Self.excess) }
        do throws(CommandFailure) {
            for batch in ItemGroup.batches(of: groups) {
                try perform(batch, &log)
                progress.show(log.count, of: contents.items.count)
            }
        } catch {
            return log.outcome(failure: error)
        }
        return log.outcome(failure: nil)
    }

    private func perform(_ batch: [ItemGroup], _ log: inout ImportLog) throws(CommandFailure) {
        var rest = ArraySlice(try source.secrets(of: batch.flatMap(\.items)))
        for group in batch {
            var readable: [(item: SourceItem, secret: SourceSecret)] = []
            for item in group.items {
                switch rest.popFirst() {
                case .success(let secret)?: readable.append((item, secret))
                case .failure(let omission)?: log.omit(item, omission)
                case nil: log.omit(item, Omission("it was not read", .decode))
                }
            }
            try CommandFailure.mapErrors(nil) { () throws(KeychainError) in try perform(group.key, readable, &log) }
        }
    }

    private func perform(
        _ key: ItemGroup.Key, _ readable: [(item: SourceItem, secret: SourceSecret)], _ log: inout ImportLog
    ) throws(KeychainError) {
        guard !readable.isEmpty else { return }
        let states = SecretComparison.states(
            of: readable.map { $0.secret.bytes }, among: try destination.secrets(of: key))
        for (state, entry) in zip(states, readable) {
            do throws(KeychainError) {
                if state == .new {
                    try ItemLimits.checkSecret(size: entry.secret.bytes.count)
                    if !dryRun { try destination.add(entry.item, entry.secret, to: key.accessGroup) }
                }
                log.add(entry.item, state)
            } catch {
                // An item that the keychain does not accept; anything else would happen to the next one, too.
                guard [.param, .dataTooLarge, .duplicateItem].contains(error.status) else { throw error }
                log.omit(entry.item, Omission(error))
            }
        }
    }

    private static let excess = Omission(
        "more than \(ItemGroup.maxCount) items have the same attributes", .dataTooLarge)
}

/// The results of an import so far.
private struct ImportLog {
    private var report: ImportReport
    private var omissionStatus: OSStatusCode?
    private(set) var count = 0

    init(_ report: ImportReport, _ contents: SourceContents) {
        self.report = report
        let omissions = contents.collections.compactMap { $0.omission } + contents.omitted.map { $0.omission }
        omissionStatus = omissions.lazy.compactMap(\.status).first
    }

    mutating func add(_ item: SourceItem, _ state: ItemState) {
        count += 1
        report.add(item, state)
    }

    mutating func omit(_ item: SourceItem, _ omission: Omission) {
        count += 1
        if omissionStatus == nil { omissionStatus = omission.status }
        report.add(item, .leftOut, reason: omission.reason)
    }

    func outcome(failure: CommandFailure?) -> ImportOutcome {
        ImportOutcome(report: report, omissionStatus: omissionStatus, failure: failure)
    }
}
