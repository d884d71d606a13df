// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainSessions
import LatchkeyOperations
@_spi(Testing) import LatchkeyService
import LinuxSystem
import SecretMemory

/// A sequence of requests to a keychain that holds items of every class. The bytes select the
/// operations and their values. Shared by the fuzzer and by the test that replays its corpus.
final class RequestInput {
    let service: EmbeddedService
    /// Answers the questions of an operation.
    let person = FuzzPerson(secrets: RequestInput.passcodes)
    var choices: FuzzedDataProvider
    /// The items that responses contained, so that requests can name them.
    private(set) var references: [PersistentReference] = []
    var contexts: [Context] = []
    /// The forbidden effect of an operation; nil for none.
    var fault: String?
    private var backups: [[UInt8]] = []
    private(set) var answers = 0
    private(set) var refusals = 0
    /// How often a person was authenticated.
    var evaluations = 0

    /// - Throws: if the keychain cannot be created.
    init(_ bytes: [UInt8]) throws {
        let clocks = Clocks(wall: { 817_041_600 }, boot: .system, passcodeExponent: 1)
        service = try EmbeddedService(inMemory: clocks, presence: person.sources)
        choices = FuzzedDataProvider(bytes)
        try fill()
    }

    /// Makes all requests.
    ///
    /// - Returns: a fault, or the damage of the keychain at the end; nil for none.
    func run() throws -> String? {
        defer { service.close() }
        for _ in 0..<Self.maxCount where !choices.isEmpty { perform(choices.byte()) }
        if let fault { return fault }
        let unhealthy = try service.check { _ in }.filter { !$0.isHealthy }
        return unhealthy.isEmpty ? nil : "the keychain is damaged: \(unhealthy)"
    }

    private static let maxCount = 40
    private static let owner = CallerIdentity(executable: "/usr/bin/example", declaredGroups: ["G1", "G2"])
    static let callers = [
        owner, CallerIdentity(executable: "/usr/bin/other", declaredGroups: ["G2"]),
        CallerIdentity(executable: "/usr/bin/plain"),
        CallerIdentity(executable: "/usr/bin/latchkey", isUserCommand: true),
        CallerIdentity(executable: "", declaredGroups: ["", "*"]),
        CallerIdentity(executable: "/usr/bin/attested", declaredGroups: ["G1"], attestedGroups: ["A", "G1"]),
        CallerIdentity(executable: "/app/bin/app", sandbox: .application(group: "flatpak.org.example.App")),
        CallerIdentity(executable: "/app/bin/app", sandbox: .unidentified),
    ]
    static let passcodes = ["wrong donkey charger nail", "another passcode of mine", "", "a"].map {
        SharedSecret(copying: $0.utf8)
    }

    private func fill() throws {
        for itemClass in ItemClass.stored where itemClass != .key {
            let addition = ItemAddition(
                itemClass, attributes: [.label: .string("label")],
                secrets: ItemSecrets(data: SharedSecret(copying: "v".utf8)))
            do throws(KeychainError) {
                references.append(try service.items.add(addition, from: Self.owner).persistentReference)
            } catch {
                // A class may require attributes that fit together.
                guard error.status == .param else { throw error }
            }
        }
        let made = try service.keys.generate(
            KeyGeneration(KeyKind(.ellipticCurve, bits: 256), privateHalf: ItemAddition(.key)), from: Self.owner)
        references.append(made.privateHalf.persistentReference)
    }

    /// Counts a response or a refusal, and reads the response.
    func ask<Answer>(_ body: () throws(KeychainError) -> Answer) -> Answer? {
        do throws(KeychainError) {
            let answer = try body()
            answers += 1
            return answer
        } catch {
            refusals += 1
            return nil
        }
    }

    private func perform(_ operation: UInt8) {
        switch operation % 32 {
        case 0, 1: add()
        case 2, 3, 4: find()
        case 5, 6: update()
        case 7, 8: delete()
        case 9: generateKey()
        case 10, 11: useKey()
        case 12: readKey()
        case 13: restore()
        case 14: backUp()
        case 15..<24: administer(operation % 32)
        default: authenticate(operation % 32)
        }
    }
}

// MARK: Items

extension RequestInput {
    private func add() {
        let (addition, caller) = (addition(choices.one(of: ItemClass.allCases)), choices.one(of: Self.callers))
        guard addition.itemClass != .identity else { return addIdentities(from: caller) }
        guard let record = ask({ () throws(KeychainError) in try self.service.items.add(addition, from: caller) })
        else {
            return
        }
        references.append(record.persistentReference)
    }

    private func addIdentities(from caller: CallerIdentity) {
        var identities: [IdentityAddition] = []
        for _ in 0...(choices.byte() & 3) {
            identities.append(
                IdentityAddition(
                    certificate: addition(.certificate), key: addition(choices.flag() ? .key : .genericPassword)))
        }
        _ = ask { () throws(KeychainError) in try service.identities.add(identities, from: caller) }
    }

    private func find() {
        let (query, caller) = (query(), choices.one(of: Self.callers))
        let returning = ReturnTypes(rawValue: choices.byte() & 15)
        let matches = ask { () throws(KeychainError) in
            try service.items.copyMatching(query, returning: returning, from: caller)
        }
        references += (matches?.records.prefix(4) ?? []).map(\.persistentReference)
        guard query.itemClass == .identity else { return }
        let identities = ask { () throws(KeychainError) in
            try service.identities.copy(query, returning: returning, from: caller)
        }
        references += (identities?.prefix(4) ?? []).map(\.key.persistentReference)
    }

    private func update() {
        let (query, caller) = (query(), choices.one(of: Self.callers))
        let update = ItemUpdate(
            attributes: attributes(), data: choices.optional { SharedSecret(copying: $0.data()) },
            accessGroup: choices.optional { $0.text() },
            protection: choices.optional { $0.one(of: ProtectionClass.allCases) },
            accessControlFlags: choices.flag() ? flags() : nil,
            isSynchronizable: choices.optional { $0.flag() }, created: choices.optional { $0.date() })
        _ = ask { () throws(KeychainError) in try service.items.update(query, with: update, from: caller) }
    }

    private func delete() {
        let (query, caller) = (query(), choices.one(of: Self.callers))
        _ = ask { () throws(KeychainError) in try service.items.delete(query, from: caller) }
    }

    private func addition(_ itemClass: ItemClass) -> ItemAddition {
        ItemAddition(
            itemClass, attributes: attributes(),
            secrets: ItemSecrets(data: choices.optional { SharedSecret(copying: $0.data()) }),
            accessGroup: choices.optional { $0.text() },
            protection: choices.optional { $0.one(of: ProtectionClass.allCases) },
            accessControlFlags: choices.flag() ? flags() : nil,
            isSynchronizable: choices.flag(), authentication: authentication())
    }

    func query() -> ItemQuery {
        var match = MatchOptions()
        match.ignoresCase = choices.flag()
        match.subjectContains = choices.optional { $0.text() }
        match.hostOrSubdomain = choices.optional { $0.text() }
        if choices.flag() { match.items = Set(references.suffix(Int(choices.byte() % 4))) }
        return ItemQuery(
            choices.optional { $0.one(of: ItemClass.allCases) }, attributes: attributes(),
            accessGroup: choices.optional { $0.text() },
            synchronizable: choices.one(of: [.any, .local, .synchronized]), persistentReference: reference(),
            limit: choices.optional { choices in MatchLimit(validating: choices.number()) ?? .all }, match: match,
            includesTombstones: choices.flag(), authentication: authentication())
    }

    private func attributes() -> [ItemAttribute: AttributeValue] {
        var attributes: [ItemAttribute: AttributeValue] = [:]
        for _ in 0..<choices.byte() % 4 {
            let attribute = choices.one(of: ItemAttribute.allCases)
            switch choices.byte() % 4 {
            case 0: attributes[attribute] = .string(choices.text())
            case 1: attributes[attribute] = .data(choices.data())
            case 2: attributes[attribute] = .number(choices.number())
            default: attributes[attribute] = .date(choices.date())
            }
        }
        return attributes
    }

    private func reference() -> PersistentReference? {
        guard choices.flag(), !references.isEmpty else { return nil }
        return choices.one(of: references)
    }
}

// MARK: Keys

extension RequestInput {
    private func generateKey() {
        // Small keys: large ones take seconds, and test nothing more.
        let bits = choices.one(of: [256, 512, 224, 384, 521, 0, -1, 513, Int.max, Int.min])
        let kind = KeyKind(choices.flag() ? .rsa : .ellipticCurve, bits: choices.flag() ? bits : 256)
        let generation = KeyGeneration(
            kind, privateHalf: addition(.key), publicHalf: choices.flag() ? addition(.key) : nil)
        let caller = choices.one(of: Self.callers)
        guard let made = ask({ () throws(KeychainError) in try self.service.keys.generate(generation, from: caller) })
        else { return }
        references.append(made.privateHalf.persistentReference)
    }

    private func useKey() {
        guard !references.isEmpty else { return }
        let hash = choices.one(of: HashAlgorithm.allCases)
        let use = choices.one(of: [
            PrivateKeyUse.signRaw, .signPKCS1(hash), .signPKCS1(nil), .signPSS(hash), .signECDSA, .decryptRaw,
            .decryptPKCS1,
            .decryptOAEP(hash), .agree, .agreeToDecrypt,
        ])
        let (reference, input) = (choices.one(of: references), SharedSecret(copying: choices.data()))
        let (caller, authentication) = (choices.one(of: Self.callers), self.authentication())
        _ = ask { () throws(KeychainError) in
            try service.keys.use(reference, use, on: input, authentication: authentication, from: caller)
        }
    }

    private func readKey() {
        guard !references.isEmpty else { return }
        let (reference, caller) = (choices.one(of: references), choices.one(of: Self.callers))
        if choices.flag() {
            let authentication = self.authentication()
            _ = ask { () throws(KeychainError) in
                try service.keys.export(reference, authentication: authentication, from: caller)
            }
        } else {
            _ = ask { () throws(KeychainError) in try service.keys.publicKey(of: reference, from: caller) }
        }
    }
}

// MARK: The whole keychain

extension RequestInput {
    private func administer(_ operation: UInt8) {
        let (secret, other) = (choices.one(of: Self.passcodes), choices.one(of: Self.passcodes))
        let isSet = choices.flag()
        let settings = KeybagSettings(
            graceSeconds: UInt16(choices.byte()), lockInterval: UInt32(truncatingIfNeeded: choices.number()),
            locksOnSleep: choices.flag(),
            wipesAfterTen: choices.flag())
        switch operation {
        case 15: _ = ask { () throws(KeychainError) in try service.lock.setPasscode(secret) { _, _ in } }
        case 16:
            _ = ask { () throws(KeychainError) in
                try service.lock.changePasscode(from: secret, to: other, rotates: isSet) { _, _ in }
            }
        case 17: _ = ask { () throws(KeychainError) in try service.lock.unlock(secret) { _, _ in } }
        case 18: _ = ask { () throws(KeychainError) in try service.lock.lock(immediately: isSet) }
        case 19: _ = ask { () throws(KeychainError) in try service.lock.removePasscode(secret) { _, _ in } }
        case 20: _ = ask { () throws(KeychainError) in try service.lock.createRecoveryKey(isSet ? secret : nil) }
        case 21:
            _ = ask { () throws(KeychainError) in try service.lock.changeSettings(to: settings, isSet ? secret : nil) }
        case 22:
            _ = ask { () throws(KeychainError) in
                try service.repair(isSet ? .moveDamaged : .emptyQuarantine, dryRun: isSet) { _ in }
            }
        default:
            let caller = choices.one(of: Self.callers)
            _ = ask { () throws(KeychainError) in try KeychainSession(service, as: caller).callerReport() }
            _ = ask { () throws(KeychainError) in try service.status() }
            _ = ask { () throws(KeychainError) in try service.lock.status() }
        }
    }

    private func backUp() {
        let (passphrase, passcode) = (Self.passcodes[0], choices.flag() ? choices.one(of: Self.passcodes) : nil)
        var written: [UInt8] = []
        let report = ask { () throws(KeychainError) in
            try service.backups.write(
                under: passphrase, passcode: passcode, to: { (bytes) throws(KeychainError) in written += bytes }
            ) { _, _ in }
        }
        if report != nil { backups.append(written) }
    }

    private func restore() {
        guard !backups.isEmpty else { return }
        var bytes = choices.one(of: backups)
        // The costs are not varied here: a separate test covers them.
        for _ in 0..<choices.byte() % 3 {
            let place = Int(choices.byte()) * 256 + Int(choices.byte())
            if place < bytes.count, !(42..<51).contains(place) { bytes[place] ^= choices.byte() }
        }
        let (content, passcode) = (bytes, choices.flag() ? choices.one(of: Self.passcodes) : nil)
        let (merges, dryRun) = (choices.flag(), choices.flag())
        var position = 0
        _ = ask { () throws(KeychainError) in
            try service.backups.restore(
                under: Self.passcodes[0], passcode: passcode, merges: merges, dryRun: dryRun,
                from: { (buffer) throws(KeychainError) in
                    let count = min(buffer.count, content.count - position)
                    buffer.copyBytes(from: content[position..<position + count])
                    position += count
                    return count
                }, progress: { _, _ in })
        }
    }
}
