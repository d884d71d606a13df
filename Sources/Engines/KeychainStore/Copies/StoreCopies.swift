// SPDX-License-Identifier: Apache-2.0

public import Keybag
public import KeychainModel
internal import LinuxSystem
public import SecretMemory
internal import SQLiteConnections

/// The comparison of a keychain's secrets with other bytes.
public struct StoreCopies {
    let store: KeychainStore

    /// The maximum number of bytes of all secrets together.
    private static let maxLength = 16 << 20

    /// Opens the secrets that can be compared, in the present state of the lock.
    ///
    /// - Parameter passcode: that of the keychain, if one is set; it is verified, and opens nothing.
    /// - Throws: also if the keychain has more secrets than can be compared at once.
    public func search(passcode: Passcode?) throws(StoreError) -> CopySearch {
        _ = try KeybagChanges(store: store).keyringForAdministration(passcode)
        DerivationPermit.release()
        var (report, items, secrets, length) = (CopyReport(), [CopiedItem](), [SharedSecret](), 0)
        try store.read { (database, seal) throws(StoreError) in
            (report, items, secrets, length) = (CopyReport(), [], [], 0)
            try store.items(database, seal).forEachRow { (_, row) throws(StoreError) in
                guard let row else {
                    report.damaged += 1
                    return
                }
                guard !row.clear.isTombstone, row.clear.itemClass != .certificate else { return }
                guard let record = Self.open(row, seal, &report), record.accessGroup != .files,
                    let secret = Self.comparable(record, &report)
                else { return }
                length += secret.count
                guard length <= Self.maxLength else { throw .resultTooLarge(max: Self.maxLength) }
                report.compared += 1
                items.append(CopiedItem(record))
                secrets.append(secret)
            }
        }
        return CopySearch(items: items, report: report, secrets)
    }

    /// Returns the record with its secrets; nil, counted in the report, if they do not open.
    private static func open(_ row: ItemRow, _ seal: RowSeal, _ report: inout CopyReport) -> ItemRecord? {
        do throws(RowSeal.Failure) {
            let record = try seal.verify(row)
            if record.needsAuthentication == nil { return record }
            report.guarded += 1
        } catch {
            switch error {
            case .closed: report.locked += 1
            case .damaged: report.damaged += 1
            case .needsAuthentication, .lost, .wrongApplicationPassword, .derivationPending: report.guarded += 1
            }
        }
        return nil
    }

    /// Returns the secret of a record; nil if it has none, or, counted in the report, if it is not compared.
    private static func comparable(_ record: ItemRecord, _ report: inout CopyReport) -> SharedSecret? {
        guard let secret = record.secrets?.data, secret.count > 0 else { return nil }
        if record.accessControlFlags != nil || !record.isExtractable {
            report.guarded += 1
        } else if secret.count < CopyReport.minLength {
            report.short += 1
        } else if secret.count > CopyReport.maxLength {
            report.long += 1
        } else if let text = try? Passcode(secret), text.weakness != nil {
            report.common += 1
        } else {
            return secret
        }
        return nil
    }
}

/// Compares secrets of a keychain with a stream of bytes.
public final class CopySearch: Sendable {
    public let report: CopyReport
    private let items: [CopiedItem]
    private let matcher: SystemMutex<CopyMatcher>

    init(items: [CopiedItem], report: CopyReport, _ secrets: [SharedSecret]) {
        (self.items, self.report) = (items, report)
        matcher = SystemMutex(CopyMatcher(secrets))
    }

    /// The number of comparisons with a secret so far.
    public var comparisons: Int { matcher.withLock { $0.comparisons } }

    /// Returns the copies that became known by the next bytes of the stream.
    public func matches(in bytes: SharedSecret) -> [CopyMatch] {
        matcher.withLock { $0.matches(in: bytes) }.map(match)
    }

    /// Returns the copies at the end of the stream.
    public func finish() -> [CopyMatch] { matcher.withLock { $0.finish() }.map(match) }

    private func match(_ match: CopyMatcher.Match) -> CopyMatch {
        CopyMatch(position: match.position, item: items[match.index])
    }
}
