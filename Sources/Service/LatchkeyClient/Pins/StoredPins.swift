// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import LatchkeyOperations
internal import LatchkeyService
internal import SecretMemory
public import TransportPolicy

/// The pins of hosts in the keychain, as `latchkey pin` stores them: one sealed item for each domain.
///
/// ```swift
/// let pins = try StoredPins().configuration(requiring: ["api.example.com"])
/// let policy = ConnectionPolicy(pins: pins)
/// ```
///
/// Every program that can write the items of the access group can replace the pins. A program that
/// must not depend on this gives its pins itself.
public struct StoredPins: Sendable {
    /// The group of the items; nil for every group that the program may read, and for its first
    /// group when it stores.
    public let accessGroup: String?

    /// - Parameter accessGroup: nil for the groups of the program.
    public init(accessGroup: String? = nil) { self.accessGroup = accessGroup }

    /// The service of the items; their account is the domain.
    public static let service = "latchkey.pins"

    // MARK: Reading

    /// Returns the pins of all domains, for a ``ConnectionPolicy``.
    ///
    /// - Parameter hosts: hosts that must have pins.
    /// - Throws: errSecItemNotFound if one of the hosts has no pins, errSecDecode if a record is
    ///   damaged, errSecParam if two records have the same domain. The program must then make no
    ///   connections.
    public func configuration(requiring hosts: [String] = []) throws(KeychainError) -> PinConfiguration {
        let configuration: PinConfiguration
        let sets = try records().map(\.pinSet)
        do throws(TransportPolicyError) { configuration = try PinConfiguration(sets) } catch {
            throw Self.parameter(error)
        }
        for host in hosts where try configuration.set(for: Self.domain(host).host) == nil {
            throw KeychainError(.itemNotFound, "\(host) has no stored pins", hint: "latchkey pin add \(host)")
        }
        return configuration
    }

    /// Returns the records of all domains, sorted by domain.
    ///
    /// - Throws: errSecDecode if a record is damaged.
    public func all() throws(KeychainError) -> [HostPins] { try stored([:]).map(\.pins) }

    /// Returns the record of a domain; nil if there is none.
    ///
    /// - Parameter domain: the domain itself, not a name below it.
    /// - Throws: errSecDecode if the record is damaged, errSecParam if there are several, in
    ///   different groups.
    public func pins(of domain: DomainName) throws(KeychainError) -> HostPins? { try item(of: domain)?.pins }

    /// Returns the record that applies to a host: that of the longest domain that includes it.
    ///
    /// - Throws: errSecDecode if a record is damaged, errSecParam if two records have the same domain.
    public func pins(for host: DomainName) throws(KeychainError) -> HostPins? {
        try records().filter { $0.pinSet.rule.includes(host.host) }
            .max { $0.domain.description.utf8.count < $1.domain.description.utf8.count }
    }

    // MARK: Changing

    /// Stores the pins of a domain.
    ///
    /// - Throws: errSecDuplicateItem if the domain has pins.
    public func add(_ pins: HostPins) throws(KeychainError) {
        if let known = try item(of: pins.domain) {
            throw KeychainError(
                .duplicateItem, "\(known.pins.domain) has stored pins",
                hint: "latchkey pin remove \(known.pins.domain)")
        }
        let addition = ItemAddition(
            .genericPassword,
            attributes: Self.attributes(pins.domain).merging([
                .label: .string("Pins of \(pins.domain)"), .itemDescription: .string("pinned keys"),
            ]) { first, _ in first },
            secrets: ItemSecrets(data: Self.data(pins)), accessGroup: accessGroup, protection: .afterFirstUnlock)
        _ = try KeychainClient.session().add(addition)
    }

    /// Replaces the record of a domain.
    ///
    /// - Throws: errSecItemNotFound if the domain has no pins.
    public func update(_ pins: HostPins) throws(KeychainError) {
        guard let known = try item(of: pins.domain) else { throw Self.missing(pins.domain) }
        let update = ItemUpdate(data: Self.data(pins))
        guard try KeychainClient.session().update(Self.query(known.reference), with: update) > 0 else {
            throw Self.missing(pins.domain)
        }
    }

    /// Deletes the pins of a domain, also if its record is damaged.
    ///
    /// - Throws: errSecItemNotFound if the domain has no pins.
    public func remove(_ domain: DomainName) throws(KeychainError) {
        guard KeychainClient.hasKeychain else { throw Self.missing(domain) }
        let query = ItemQuery(
            .genericPassword, attributes: Self.attributes(domain), accessGroup: accessGroup, limit: .all)
        guard try KeychainClient.session().delete(query) > 0 else { throw Self.missing(domain) }
    }

    // MARK: Items

    private struct Stored {
        let pins: HostPins
        let reference: PersistentReference
    }

    /// The one record of each domain.
    ///
    /// - Throws: errSecParam if a domain has records in several groups.
    private func records() throws(KeychainError) -> [HostPins] {
        let all = try all()
        for (first, second) in zip(all, all.dropFirst()) where first.domain == second.domain {
            throw Self.ambiguous(first.domain)
        }
        return all
    }

    private func item(of domain: DomainName) throws(KeychainError) -> Stored? {
        let found = try stored([.account: .string(domain.description)])
        guard found.count < 2 else { throw Self.ambiguous(domain) }
        return found.first
    }

    private func stored(_ attributes: [ItemAttribute: AttributeValue]) throws(KeychainError) -> [Stored] {
        guard KeychainClient.hasKeychain else { return [] }
        let query = ItemQuery(
            .genericPassword, attributes: attributes.merging([.service: .string(Self.service)]) { first, _ in first },
            accessGroup: accessGroup, limit: .all)
        let matches = try KeychainClient.session().copyMatching(
            query, returning: [.attributes, .data, .persistentReference])
        guard matches.damaged == 0 else {
            throw KeychainError(
                .decode, "\(matches.damaged) items with pins are damaged", hint: "latchkey doctor shows the damage")
        }
        var stored: [Stored] = []
        for record in matches.records { stored.append(try Self.stored(record)) }
        return stored.sorted { $0.pins.domain.description < $1.pins.domain.description }
    }

    private static func stored(_ record: ItemRecord) throws(KeychainError) -> Stored {
        // EXPOSE: pins are hashes of public keys. They are sealed so that they cannot be changed.
        let bytes = record.secrets?.data?.withUnsafeBytes { Array($0.prefix(HostPins.maxLength + 1)) } ?? []
        let account = record[.account]?.text ?? ""
        let pins: HostPins
        do throws(KeychainError) { pins = try HostPins(encoded: bytes) } catch {
            throw KeychainError(error.status, error.problem, hint: "latchkey pin remove \(account)", item: account)
        }
        guard pins.domain.description == account else {
            throw KeychainError(
                .decode, "the stored pins of another domain were found in the place of this one", item: account)
        }
        return Stored(pins: pins, reference: record.persistentReference)
    }

    private static func attributes(_ domain: DomainName) -> [ItemAttribute: AttributeValue] {
        [.service: .string(service), .account: .string(domain.description)]
    }

    private static func query(_ reference: PersistentReference) -> ItemQuery {
        ItemQuery(.genericPassword, persistentReference: reference)
    }

    private static func data(_ pins: HostPins) -> SharedSecret { SharedSecret(copying: pins.encoded) }

    // MARK: Errors

    private static func domain(_ host: String) throws(KeychainError) -> DomainName {
        do throws(TransportPolicyError) { return try DomainName(host) } catch { throw parameter(error) }
    }

    private static func parameter(_ error: TransportPolicyError) -> KeychainError {
        KeychainError(.param, error.problem, hint: error.hint)
    }

    private static func missing(_ domain: DomainName) -> KeychainError {
        KeychainError(.itemNotFound, "\(domain) has no stored pins", hint: "latchkey pin list")
    }

    private static func ambiguous(_ domain: DomainName) -> KeychainError {
        KeychainError(.param, "\(domain) has stored pins in several access groups", hint: "name one access group")
    }
}
