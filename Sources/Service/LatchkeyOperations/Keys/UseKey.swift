// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService
package import SecretMemory

/// Performs one operation with a private key of the keychain.
package struct UseKey: KeychainOperation {
    package let reference: PersistentReference
    package let use: PrivateKeyUse
    package let input: SharedSecret
    private let ownAuthentication: Authentication

    package init(
        _ reference: PersistentReference, _ use: PrivateKeyUse, on input: SharedSecret,
        authentication: Authentication = Authentication()
    ) {
        self.reference = reference
        self.use = use
        self.input = input
        ownAuthentication = authentication
    }

    package static let traits: OperationTraits = [.accessesItems, .readsSecrets]

    package var audit: AuditDetails? { AuditDetails(use.name, itemClass: .key) }

    package var reach: OperationReach { .searchList }

    package var authentication: Authentication? { ownAuthentication }

    package func authenticated(by authentication: Authentication) -> UseKey {
        UseKey(reference, use, on: input, authentication: authentication)
    }

    package func run(in context: some OperationContext) throws(KeychainError) -> KeyOutput {
        try context.requireAccess(toUse: reference, ownAuthentication)
        guard let permit = context.acquire(.keyUse) else {
            throw KeychainError(
                .notAvailable, "too many concurrent key operations of this user",
                hint: "use fewer threads at a time, or try again")
        }
        defer { withExtendedLifetime(permit) {} }
        return try context.service.keys.use(
            reference, use, on: input, authentication: ownAuthentication, from: context.caller)
    }
}

extension KeyOutput: ResponseContent {
    package var auditedCount: Int { 1 }
    package var auditedGroup: AccessGroup? { accessGroup }
}

extension OperationContext {
    /// Requires the same access as reading the key, because the result of a decryption or key agreement is as secret as
    /// the key.
    func requireAccess(toUse reference: PersistentReference, _ authentication: Authentication) throws(KeychainError) {
        try requireAccess(
            toSecretsOf: ItemQuery(
                nil, synchronizable: .any, persistentReference: reference, authentication: authentication))
    }

    /// Requires the same access as reading the items of a query.
    func requireAccess(toSecretsOf query: ItemQuery) throws(KeychainError) {
        guard try mayNeedPasscode else { return }
        let found = try service.items.copyMatching(query, returning: .attributes, from: caller)
        guard !found.isEmpty else { throw .itemNotFound }
        try requireAccess(toSecretsIn: found.records.map(\.accessGroup))
    }
}

extension OperationPerformer {
    /// Performs an operation with a private key. The bytes of the key stay in the service.
    ///
    /// - Parameter authentication: how the call may satisfy the access control of the key.
    /// - Returns: the signature, the decrypted data, or the shared secret.
    /// - Throws: errSecKeyUsageIncorrect if the key's attributes do not allow the operation;
    ///   errSecParam if the input does not fit.
    package func useKey(
        _ reference: PersistentReference, _ use: PrivateKeyUse, on input: SharedSecret,
        authentication: Authentication = Authentication()
    ) throws(KeychainError) -> KeyOutput {
        try perform(UseKey(reference, use, on: input, authentication: authentication))
    }
}

// MARK: Coding

extension UseKey {
    init(_ wire: WireUseKey, _ secrets: inout SecretTable) throws(WireError) {
        try requireKnown(wire)
        reference = try PersistentReference(wire: wire.reference)
        use = try PrivateKeyUse(wire: wire.use, hash: wire.hash)
        input = try secrets.take(wire.input)
        ownAuthentication = wire.hasAuthentication ? try wire.authentication.decode() : Authentication()
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        var wire = WireUseKey()
        wire.reference = Data(reference.bytes)
        (wire.use, wire.hash) = use.wire
        wire.input = secrets.append(input)
        if let authentication = WireAuthentication(ownAuthentication) { wire.authentication = authentication }
        return .useKey(wire)
    }
}

extension KeyOutput {
    init(_ wire: WireKeyOutput, _ secrets: inout SecretTable) throws(WireError) {
        try requireKnown(wire)
        self.init(
            try secrets.take(wire.output),
            from: AccessGroup(wire.accessGroup, grade: try AccessGroup.Grade(wire: wire.grade)))
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireResponse.OneOf_Content {
        var wire = WireKeyOutput()
        wire.output = secrets.append(bytes)
        wire.accessGroup = accessGroup.name
        wire.grade = UInt32(accessGroup.grade.rawValue)
        return .keyOutput(wire)
    }
}

extension HashAlgorithm {
    fileprivate var wire: UInt32 { UInt32(Self.allCases.firstIndex(of: self) ?? 0) + 1 }

    fileprivate init(wire number: UInt32) throws(WireError) {
        guard 1...UInt32(Self.allCases.count) ~= number else { throw .malformed("unknown hash \(number)") }
        self = Self.allCases[Int(number) - 1]
    }
}

extension PrivateKeyUse {
    fileprivate var wire: (use: UInt32, hash: UInt32) {
        switch self {
        case .signRaw: (1, 0)
        case .signPKCS1(let hash): (2, hash?.wire ?? 0)
        case .signPSS(let hash): (3, hash.wire)
        case .signECDSA: (4, 0)
        case .decryptRaw: (5, 0)
        case .decryptPKCS1: (6, 0)
        case .decryptOAEP(let hash): (7, hash.wire)
        case .agree: (8, 0)
        case .agreeToDecrypt: (9, 0)
        case .attest: (10, 0)
        }
    }

    fileprivate init(wire number: UInt32, hash: UInt32) throws(WireError) {
        switch number {
        case 2: self = .signPKCS1(hash == 0 ? nil : try HashAlgorithm(wire: hash))
        case 3: self = .signPSS(try HashAlgorithm(wire: hash))
        case 7: self = .decryptOAEP(try HashAlgorithm(wire: hash))
        default:
            let plain: [UInt32: PrivateKeyUse] = [
                1: .signRaw, 4: .signECDSA, 5: .decryptRaw, 6: .decryptPKCS1, 8: .agree, 9: .agreeToDecrypt,
                10: .attest,
            ]
            guard let known = plain[number], hash == 0 else {
                throw .malformed("unknown use \(number) of a key with the hash \(hash)")
            }
            self = known
        }
    }
}
