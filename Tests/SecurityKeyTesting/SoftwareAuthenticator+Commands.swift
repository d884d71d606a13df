// SPDX-License-Identifier: Apache-2.0

import Foundation
import SecretMemory

/// A status of CTAP 2.1, 8.2.
enum CTAPStatus: UInt8, Error {
    case invalidCommand = 0x01
    case missingParameter = 0x14
    case operationDenied = 0x27
    case keepaliveCancel = 0x2D
    case noCredentials = 0x2E
    case pinInvalid = 0x31
    case pinBlocked = 0x32
    case pinAuthInvalid = 0x33
    case pinAuthBlocked = 0x34
    case pinNotSet = 0x35
    case pinRequired = 0x36
    case other = 0x7F
}

/// The memory of a software authenticator.
struct AuthenticatorState {
    struct Credential {
        let key: AuthenticatorKey
        let secretWithoutPIN: [UInt8]
        let secretWithPIN: [UInt8]
    }

    var channel: [UInt8] = []
    var credentials: [[UInt8]: Credential] = [:]
    /// The number of credentials that were created for each relying party.
    var relyingParties: [String: Int] = [:]
    var agreementKey: AuthenticatorKey?
    var pinToken = randomBytes(32)
    var retries = 8
    var wrongInSequence = 0
}

extension SoftwareAuthenticator {
    /// The AAGUID of this model.
    static let aaguid = [UInt8](1...16)

    func result(of command: Command, _ parameters: CBOR) throws -> CBOR {
        switch command {
        case .getInfo: return information
        case .makeCredential: return try makeCredential(parameters)
        case .getAssertion: return try getAssertion(parameters)
        case .getRetries: return .map([3: .integer(state.retries)])
        case .getKeyAgreement: return try getKeyAgreement()
        case .getPINToken, .getPINTokenWithPermissions: return try getPINToken(parameters)
        default: throw CTAPStatus.invalidCommand
        }
    }

    private var information: CBOR {
        var options: [CBOR.Pair] = [.init(.text("rk"), .bool(true)), .init(.text("up"), .bool(true))]
        if settings.alwaysVerifies { options.append(.init(.text("alwaysUv"), .bool(true))) }
        options.append(.init(.text("clientPin"), .bool(settings.pin != nil)))
        if settings.hasPermissions { options.append(.init(.text("pinUvAuthToken"), .bool(true))) }
        return .map([
            1: .array([.text("FIDO_2_0"), .text("FIDO_2_1")]),
            2: .array(settings.hasHMACSecret ? [.text("hmac-secret")] : [.text("credProtect")]),
            3: .bytes(Self.aaguid), 4: .map(options), 5: .integer(1200),
            6: .array(settings.protocols.map { .integer($0) }),
        ])
    }

    private func makeCredential(_ parameters: CBOR) throws -> CBOR {
        guard let hash = parameters[1]?.bytes, let party = parameters[2]?["id"]?.text,
            parameters[3]?["id"]?.bytes != nil
        else { throw CTAPStatus.missingParameter }
        let isVerified = try verifyUser(parameters[8], parameters[9], hash)
        guard isVerified || settings.pin == nil else { throw CTAPStatus.pinRequired }
        let wantsSecret = parameters[6]?["hmac-secret"]?.bool == true && settings.hasHMACSecret

        let id = randomBytes(48)
        let credential = AuthenticatorState.Credential(
            key: try AuthenticatorKey(), secretWithoutPIN: randomBytes(32), secretWithPIN: randomBytes(32))
        state.credentials[id] = credential
        state.relyingParties[party, default: 0] += 1
        let attested = Self.aaguid + [0, UInt8(id.count)] + id + (try credential.key.cose(algorithm: -7).encoded)
        let extensions = wantsSecret ? CBOR.map(named: ["hmac-secret": .bool(true)]).encoded : []
        let data =
            try header(party, isPresent: true, isVerified, hasExtensions: wantsSecret, 0x40) + attested + extensions
        guard settings.isSelfAttested else {
            return .map([1: .text("none"), 2: .bytes(data), 3: .map([])])
        }
        let statement = CBOR.map(named: ["alg": .integer(-7), "sig": .bytes(try sign(data + hash, credential.key))])
        return .map([1: .text("packed"), 2: .bytes(data), 3: statement])
    }

    private func getAssertion(_ parameters: CBOR) throws -> CBOR {
        guard let party = parameters[1]?.text, let hash = parameters[2]?.bytes else {
            throw CTAPStatus.missingParameter
        }
        let isVerified = try verifyUser(parameters[6], parameters[7], hash)
        let isPresent = parameters[5]?["up"]?.bool ?? true
        guard isVerified || !settings.alwaysVerifies || !isPresent && settings.provesWithoutPIN else {
            throw CTAPStatus.pinRequired
        }
        let allowed = parameters[3]?.array?.compactMap { $0["id"]?.bytes } ?? []
        guard let id = allowed.first(where: { state.credentials[$0] != nil }), let credential = state.credentials[id]
        else { throw CTAPStatus.noCredentials }

        var extensions: [UInt8] = []
        if let input = parameters[4]?["hmac-secret"], settings.hasHMACSecret {
            let output = try secret(of: credential, input, isVerified)
            extensions = CBOR.map(named: ["hmac-secret": .bytes(output)]).encoded
        }
        let data =
            try header(party, isPresent: isPresent, isVerified, hasExtensions: !extensions.isEmpty, 0) + extensions
        return .map([
            1: .map(named: ["id": .bytes(id), "type": .text("public-key")]), 2: .bytes(data),
            3: .bytes(try sign(data + hash, credential.key)),
        ])
    }

    /// Returns the encrypted result of hmac-secret (CTAP 2.1, 12.5).
    private func secret(
        of credential: AuthenticatorState.Credential, _ input: CBOR, _ isVerified: Bool
    ) throws -> [UInt8] {
        guard let key = state.agreementKey, let salt = input[2]?.bytes,
            let shared = try PINProtocol(number: input[4]?.integer ?? 1, key: key, platform: input[1]),
            shared.isAuthentic(input[3]?.bytes, of: salt)
        else { throw CTAPStatus.pinAuthInvalid }
        let secret = isVerified ? credential.secretWithPIN : credential.secretWithoutPIN
        return try shared.encrypted(settings.secret(hmac(try shared.decrypted(salt), key: secret)))
    }

    /// Authenticator data without attested credential and extensions: 37 bytes.
    private func header(
        _ party: String, isPresent: Bool, _ isVerified: Bool, hasExtensions: Bool, _ more: UInt8
    ) throws -> [UInt8] {
        let flags = (isPresent ? 0x01 : 0) | (isVerified ? 0x04 : 0) | (hasExtensions ? 0x80 : 0) | more
        return try sha256(Array((settings.relyingParty ?? party).utf8)) + [settings.flags(flags), 0, 0, 0, 7]
    }

    private func sign(_ message: [UInt8], _ key: AuthenticatorKey) throws -> [UInt8] {
        try (settings.signsWrongly ? AuthenticatorKey() : key).signature(of: message)
    }

    // MARK: PIN

    private func getKeyAgreement() throws -> CBOR {
        let key = try AuthenticatorKey()
        state.agreementKey = key
        return .map([1: try key.cose(algorithm: -25)])
    }

    private func getPINToken(_ parameters: CBOR) throws -> CBOR {
        guard let pin = settings.pin else { throw CTAPStatus.pinNotSet }
        guard state.retries > 0 else { throw CTAPStatus.pinBlocked }
        guard state.wrongInSequence < 3 else { throw CTAPStatus.pinAuthBlocked }
        guard let key = state.agreementKey, let encrypted = parameters[6]?.bytes,
            let shared = try PINProtocol(number: parameters[1]?.integer ?? 1, key: key, platform: parameters[3])
        else { throw CTAPStatus.missingParameter }
        guard try shared.decrypted(encrypted) == Array(sha256(Array(pin.utf8)).prefix(16)) else {
            state.retries -= 1
            state.wrongInSequence += 1
            if state.retries == 0 { throw CTAPStatus.pinBlocked }
            throw state.wrongInSequence == 3 ? CTAPStatus.pinAuthBlocked : CTAPStatus.pinInvalid
        }
        state.retries = 8
        state.wrongInSequence = 0
        state.pinToken = randomBytes(32)
        return .map([2: .bytes(try shared.encrypted(state.pinToken))])
    }

    /// Whether the parameters prove the knowledge of the PIN token.
    private func verifyUser(_ code: CBOR?, _ number: CBOR?, _ hash: [UInt8]) throws -> Bool {
        guard let code = code?.bytes else { return false }
        guard PINProtocol.code(of: hash, key: state.pinToken, number: number?.integer ?? 1) == code else {
            throw CTAPStatus.pinAuthInvalid
        }
        return true
    }

    /// Makes the key accept PINs again, as unplugging it does.
    func replug() {
        condition.withLock { state.wrongInSequence = 0 }
    }
}

func randomBytes(_ count: Int) -> [UInt8] {
    SecretBytes.random(count: count).withUnsafeBytes { Array($0) }
}
