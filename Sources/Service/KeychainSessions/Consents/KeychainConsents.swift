// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import LatchkeyOperations
internal import LatchkeyService

/// The consents of the person, and whether programs are asked about at all: records of a keychain, as those of its
/// collections (``KeychainCollections``).
///
/// They guard against mistakes and isolate nothing: every program of the user can write the records, and
/// read the items without the Secret Service.
public struct KeychainConsents: Sendable {
    private let keychain: KeychainSession
    private let records: KeychainRecords

    public init(_ keychain: KeychainSession) { (self.keychain, records) = (keychain, KeychainRecords(keychain)) }

    /// The maximum number of consents. One more removes the oldest.
    public static let maxCount = 1024

    // MARK: The mode

    /// The mode that the person has chosen; ``ConsentMode/never`` if there was no choice, and
    /// ``ConsentMode/always`` while the choice cannot be read, or is one of a later version.
    public func mode() throws(KeychainError) -> ConsentMode {
        let found = try records.all(.setting, Self.modeName)
        guard let record = found.records.first else { return found.locked.isEmpty ? .never : .always }
        return record[.label]?.text.flatMap { ConsentMode(rawValue: $0) } ?? .always
    }

    public func setMode(_ mode: ConsentMode) throws(KeychainError) {
        try records.set(.setting, Self.modeName, label: mode.rawValue)
    }

    // MARK: Consents

    /// Returns all consents, the oldest first.
    public func all() throws(KeychainError) -> [KeychainConsent] {
        var consents: [KeychainConsent] = []
        for record in try records.all(.consent).records {
            guard let consent = record[.account]?.text.flatMap({ Consent(decoding: $0) }) else { continue }
            consents.append(KeychainConsent(consent: consent, created: record.created))
        }
        return consents
    }

    /// Adds the consents that are not there yet.
    public func add(_ consents: [Consent]) throws(KeychainError) {
        let present = try all()
        let known = Set(present.map(\.consent))
        let new = consents.filter { !known.contains($0) }
        let surplus = max(0, present.count + new.count - Self.maxCount)
        for old in present.prefix(surplus) { try records.delete(.consent, old.consent.encoded) }
        for consent in new.suffix(Self.maxCount) {
            do throws(KeychainError) {
                _ = try records.add(.consent, consent.encoded, label: consent.program.text)
            } catch {
                // Another program has added it meanwhile.
                guard error.status == .duplicateItem else { throw error }
            }
        }
    }

    /// Removes the consents of a program; those of all programs for nil.
    ///
    /// - Returns: the number of consents that were removed.
    public func remove(_ program: ProgramPath?) throws(KeychainError) -> Int {
        var count = 0
        for entry in try all() where program == nil || entry.consent.program == program {
            try records.delete(.consent, entry.consent.encoded)
            count += 1
        }
        return count
    }

    // MARK: Items

    /// Returns the name that the person knows an item by.
    public func item(_ identifier: [UInt8]) throws(KeychainError) -> ConsentedItem {
        guard let reference = PersistentReference(bytes: identifier), reference.itemClass.isPassword else {
            return .missing
        }
        var query = ItemQuery(
            nil, synchronizable: .any, persistentReference: reference, authentication: Authentication(.skip))
        query.accessGroups = try KeychainCollections(keychain).all().map(\.name.accessGroup.name)
        // With lookup attributes, a locked item is a match and no error.
        query.lookupAttributes = .empty
        let found = try keychain.copyMatching(query, returning: .attributes)
        guard let record = found.records.first else { return found.locked.isEmpty ? .missing : .locked }
        return .named(record[.label]?.text ?? record[.service]?.text ?? record[.server]?.text ?? "")
    }

    private static let modeName = "consent"
}

/// A consent of a keychain, with its date: seconds since 2001-01-01 00:00:00 UTC.
public struct KeychainConsent: Hashable, Sendable {
    public let consent: Consent
    public let created: Double
}

/// The item that a consent is about.
public enum ConsentedItem: Hashable, Sendable {
    case named(String)
    /// Its label is not known while the keychain is locked.
    case locked
    /// It was deleted.
    case missing
}
