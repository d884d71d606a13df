// SPDX-License-Identifier: Apache-2.0

import SecretMemory
@_spi(Testing) import SecurityKey
import Synchronization
@testable import SecurityKeyTesting
import Testing

@Suite("Hostile security keys")
struct HostileDeviceTests {
    struct Attack: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let error: SecurityKeyError?
        /// Short for attacks that let the caller wait.
        var timeout: Duration { error == .noTouch ? .milliseconds(200) : .seconds(60) }
        let change: @Sendable (inout SoftwareAuthenticator.Settings) -> Void

        init(
            _ name: String, _ error: SecurityKeyError?,
            _ change: @escaping @Sendable (inout SoftwareAuthenticator.Settings) -> Void
        ) {
            testDescription = name
            self.error = error
            self.change = change
        }

        /// An attack that replaces the answer to a derivation.
        static func answer(_ name: String, _ error: SecurityKeyError?, _ bytes: [UInt8]) -> Attack {
            Attack(name, error) { $0.answer = { $0 == .getAssertion ? bytes : $1 } }
        }

        /// An attack that changes the fields of the answer to a derivation.
        static func fields(
            _ name: String, _ error: SecurityKeyError?, _ change: @escaping @Sendable ([CBOR.Pair]) -> [CBOR.Pair]
        ) -> Attack {
            Attack(name, error) {
                $0.answer = { command, bytes in
                    guard command == .getAssertion, case .map(let pairs)? = CBOR(bytes.dropFirst()) else {
                        return bytes
                    }
                    return [0] + CBOR.map(change(pairs)).encoded
                }
            }
        }

        /// An attack that changes the reports of the answer to a derivation.
        static func reports(
            _ name: String, _ error: SecurityKeyError?, _ change: @escaping @Sendable ([[UInt8]]) -> [[UInt8]]
        ) -> Attack {
            Attack(name, error) { $0.reports = { $0 == .getAssertion ? change($1) : $1 } }
        }
    }

    private static let malformed = SecurityKeyError.invalidAnswer("it is not well-formed CBOR")
    private static let notCTAP = SecurityKeyError.invalidAnswer("its fields are not those of CTAP 2")

    static let answers = [
        Attack.answer("an unknown status", .refused(status: 0x7F), [0x7F]),
        .answer("an empty message", .connectionFailed, []),
        .answer("a status without fields", malformed, [0]),
        .answer("bytes that are not CBOR", malformed, [0, 0xFF, 0xFF, 0xFF]),
        .answer("a number for a map", malformed, [0, 0x01]),
        .answer("a map of an unknown length", malformed, [0, 0xBF, 0xFF]),
        .answer("a map of 2^32 pairs", malformed, [0, 0xBB, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1]),
        .answer("a map of 2^64 - 1 pairs", malformed, [0, 0xBB] + Array(repeating: 0xFF, count: 8) + [1, 1]),
        .answer("a string of 2^63 bytes", malformed, [0, 0xA1, 2, 0x5B, 0x80, 0, 0, 0, 0, 0, 0, 0, 1]),
        .answer("an array in an array, 1900 times", malformed, [0, 0xA1, 1] + Array(repeating: 0x81, count: 1900)),
        .answer("an empty map", .presenceNotTested, [0, 0xA0]),
        .fields("no signature", .invalidAnswer("it is not complete")) { Array($0.dropLast()) },
        .fields("no data", .presenceNotTested) { $0.filter { $0.key != .integer(2) } },
        .fields("data of 36 bytes", notCTAP) { $0.map { replace($0, 2, .bytes([UInt8](repeating: 1, count: 36))) } },
        .fields("text for a signature", notCTAP) { $0.map { replace($0, 3, .text("signed")) } },
        .fields("an empty signature", .wrongSignature) { $0.map { replace($0, 3, .bytes([])) } },
        .fields("no announced signature", .invalidAnswer("it announces 0 signatures, expected 1")) {
            $0 + [.init(.integer(5), .integer(0))]
        },
        .fields("three signatures", .invalidAnswer("it announces 3 signatures, expected 1")) {
            $0 + [.init(.integer(5), .integer(3))]
        },
        .fields("2^40 signatures", .invalidAnswer("it announces 1099511627776 signatures, expected 1")) {
            $0 + [.init(.integer(5), .integer(1 << 40))]
        },
        .answer(
            "three signatures, as a long number", .invalidAnswer("it announces 3 signatures, expected 1"),
            [
                0, 0xA1, 0x18, 5, 3,
            ]),
        .answer(
            "2^64 - 1 signatures", malformed, [0, 0xA1, 5, 0x1B] + Array(repeating: 0xFF, count: 8)),
        .fields("a text for the number of signatures", notCTAP) { $0 + [.init(.integer(5), .text("1"))] },
        .fields("a field that is there twice", notCTAP) { $0 + $0 },
    ]

    static let frames = [
        Attack.reports("a report of 32 bytes", .connectionFailed) { $0.map { Array($0.prefix(32)) } },
        .reports("a report of 65 bytes", .connectionFailed) { $0.map { $0 + [0] } },
        .reports("an empty report", .connectionFailed) { _ in [[]] },
        .reports("a message of 65535 bytes", .connectionFailed) { $0.map { replace($0, at: 5, [0xFF, 0xFF]) } },
        .reports("another channel", .noTouch) { $0.map { replace($0, at: 0, [1, 2, 3, 4]) } },
        .reports("another command", .connectionFailed) { $0.map { replace($0, at: 4, [0x83]) } },
        .reports("an error of CTAPHID", .connectionFailed) { $0.map { replace($0, at: 4, [0xBF, 0, 1, 0x0B]) } },
    ]

    static let lies = [
        Attack("a wrong signature", .wrongSignature) { $0.signsWrongly = true },
        Attack("no present user", .presenceNotTested) { $0.flags = { $0 & ~0x01 } },
        Attack("a verified user that was not asked for", .userVerified) { $0.flags = { $0 | 0x04 } },
        Attack("another relying party", .invalidAnswer("it is for another relying party, or has other extensions")) {
            $0.relyingParty = "example.com"
        },
        Attack("a new credential", .invalidAnswer("it contains another credential")) { $0.flags = { $0 | 0x40 } },
        Attack("no result of hmac-secret", .hmacSecretUnsupported) { $0.hasHMACSecret = false },
        Attack("a secret of 16 bytes", nil) { $0.secret = { Array($0.prefix(16)) } },
        Attack("a secret of 64 bytes", .invalidAnswer("its secret has 64 bytes, expected 32")) {
            $0.secret = { $0 + $0 }
        },
        Attack("an empty secret", nil) { $0.secret = { _ in [] } },
    ]

    /// Faults before the derivation, with the error and the change of each.
    static let openings = [
        Attack("another nonce", .connectionFailed) {
            $0.reports = { $0 == nil ? $1.map { replace($0, at: 7, [0, 0, 0, 0]) } : $1 }
        },
        Attack("no answer to the first message", .notResponding) { $0.reports = { _, _ in [] } },
        Attack("no answer after the first message", .notResponding) { $0.reports = { $0 == nil ? $1 : [] } },
        Attack("a description that is not CBOR", malformed) { $0.answer = { $0 == .getInfo ? [0, 0xFF] : $1 } },
        Attack("an endless description", .notResponding) {
            $0.reports = { $0 == .getInfo ? [] : $1 }
            $0.sendsEndlessKeepalives = true
        },
        Attack("a description that is a refusal", .notFIDO2) { $0.answer = { $0 == .getInfo ? [0x7F] : $1 } },
        Attack("a device without CTAP 2", .notFIDO2) { $0.supportsCTAP2 = false },
        Attack("a key agreement that is no point", nil) {
            $0.answer = { command, bytes in
                guard command == .getKeyAgreement else { return bytes }
                let zeros = CBOR.bytes([UInt8](repeating: 0, count: 32))
                let key = CBOR.map([1: .integer(2), 3: .integer(-25), -1: .integer(1), -2: zeros, -3: zeros])
                return [0] + CBOR.map([1: key]).encoded
            }
        },
    ]

    @Test("A false beginning is an error by name, and the next operation succeeds", arguments: openings)
    func opening(_ attack: Attack) throws {
        let device = SoftwareAuthenticator()
        let credential = try device.key.enroll(verification: .touch)
        device.change(attack.change)
        let timeout = attack.error == .notResponding ? Duration.milliseconds(200) : .seconds(60)
        let error = SecurityKey.$answerTimeout.withValue(timeout) {
            #expect(throws: SecurityKeyError.self) { _ = try device.key.deriveSecret(from: credential) }
        }
        if let expected = attack.error { #expect(error == expected) }
        device.change { $0 = SoftwareAuthenticator.Settings() }
        _ = try device.key.deriveSecret(from: credential)
        #expect(device.closeCount == device.openCount)
    }

    /// An array that announces 2^20 values and has none. libcbor would fill memory for it.
    private static let large: [UInt8] = [0x9A, 0, 0x10, 0, 0]

    @Test(
        "An answer that announces more values than it has is rejected before it is decoded",
        arguments: [
            SoftwareAuthenticator.Command.getInfo, .getKeyAgreement, .makeCredential, .getAssertion,
            .getPINTokenWithPermissions, .getRetries,
        ])
    func announcedValues(_ command: SoftwareAuthenticator.Command) throws {
        let device = SoftwareAuthenticator()
        device.change { $0.pin = "1234" }
        let pin = try pin("1234")
        let credential = try device.key.enroll(verification: .pin, pin: pin)
        device.change { $0.answer = { $0 == command ? [0, 0xA1, 0x01] + Self.large : $1 } }
        do throws(SecurityKeyError) {
            _ = try device.key.deriveSecret(from: credential, pin: pin)
            _ = try device.key.enroll(verification: .pin, pin: pin)
            // An unknown number of attempts is not an error.
            #expect(command == .getRetries)
            #expect(try device.key.describe().pinRetries == nil)
        } catch {
            #expect(error == Self.malformed)
        }
    }

    @Test("The same holds for the data that is signed, with and without a new credential", arguments: [true, false])
    func announcedValuesInData(isEnrollment: Bool) throws {
        let device = SoftwareAuthenticator()
        let credential = try device.key.enroll(verification: .touch)
        device.change {
            $0.answer = { command, bytes in
                guard case .map(let pairs)? = CBOR(bytes.dropFirst()), let data = CBOR(bytes.dropFirst())?[2]?.bytes
                else { return bytes }
                // The new credential is followed by the extensions, otherwise the header is.
                let start = command == .makeCredential ? data.count - 14 : 37
                let changed = CBOR.bytes(Array(data.prefix(start)) + Self.large)
                return [0] + CBOR.map(pairs.map { replace($0, 2, changed) }).encoded
            }
        }
        #expect(throws: Self.malformed) {
            if isEnrollment {
                _ = try device.key.enroll(verification: .touch)
            } else {
                _ = try device.key.deriveSecret(from: credential)
            }
        }
    }

    @Test("Keepalives without end, and silence, end with the timeout", arguments: [true, false])
    func endless(hasKeepalives: Bool) throws {
        let device = SoftwareAuthenticator()
        let credential = try device.key.enroll(verification: .touch)
        device.change {
            $0.reports = { $0 == .getAssertion ? [] : $1 }
            $0.sendsEndlessKeepalives = hasKeepalives
        }
        #expect(throws: SecurityKeyError.noTouch) {
            _ = try device.key.deriveSecret(from: credential, timeout: .milliseconds(200))
        }
    }

    @Test("The answer to an earlier request is rejected")
    func replay() throws {
        let device = SoftwareAuthenticator()
        let credential = try device.key.enroll(verification: .touch)
        let recorder = Recorder()
        device.change {
            $0.answer = {
                if $0 == .getAssertion { recorder.keep($1) }; return $1
            }
        }
        _ = try device.key.deriveSecret(from: credential)
        device.change { $0.answer = { $0 == .getAssertion ? recorder.kept : $1 } }
        #expect(throws: SecurityKeyError.wrongSignature) { _ = try device.key.deriveSecret(from: credential) }
    }

    @Test("An encrypted secret that was changed on the way is rejected")
    func changedSecret() throws {
        let device = SoftwareAuthenticator()
        let credential = try device.key.enroll(verification: .touch)
        device.change {
            $0.answer = { command, bytes in
                guard command == .getAssertion, let fields = CBOR(bytes.dropFirst()), var data = fields[2]?.bytes,
                    case .map(let pairs) = fields
                else { return bytes }
                data[data.count - 1] ^= 1
                return [0] + CBOR.map(pairs.map { replace($0, 2, .bytes(data)) }).encoded
            }
        }
        #expect(throws: SecurityKeyError.wrongSignature) { _ = try device.key.deriveSecret(from: credential) }
    }

    @Test("A credential of another public key is not accepted from the device that has its identifier")
    func otherPublicKey() throws {
        let device = SoftwareAuthenticator()
        let (one, two) = (try device.key.enroll(verification: .touch), try device.key.enroll(verification: .touch))
        let mixed = try SecurityKeyCredential(
            id: one.id, publicKey: two.publicKey, salt: one.salt, verification: .touch)
        #expect(throws: SecurityKeyError.wrongSignature) { _ = try device.key.deriveSecret(from: mixed) }
    }

    static let enrollments = [
        Attack("no hmac-secret", .hmacSecretUnsupported) { $0.hasHMACSecret = false },
        Attack("a wrong signature", .wrongSignature) { $0.signsWrongly = true },
        Attack("no present user", .presenceNotTested) { $0.flags = { $0 & ~0x01 } },
        Attack("another relying party", .invalidAnswer("it is for another relying party, or has other extensions")) {
            $0.relyingParty = "example.com"
        },
        Attack("a format that is not known", .invalidAnswer("its attestation is of an unsupported format")) {
            $0.answer = { command, bytes in
                guard command == .makeCredential, case .map(let pairs)? = CBOR(bytes.dropFirst()) else { return bytes }
                return [0] + CBOR.map(pairs.map { replace($0, 1, .text("fido-u2f")) }).encoded
            }
        },
        Attack("bytes that are not CBOR", malformed) { $0.answer = { $0 == .makeCredential ? [0, 0xFF] : $1 } },
        Attack("an empty map", nil) { $0.answer = { $0 == .makeCredential ? [0, 0xA0] : $1 } },
        Attack("denied", .denied) { $0.touch = .denied },
    ]

    @Test("A false answer to an enrollment is an error by name", arguments: enrollments)
    func enrollment(_ attack: Attack) throws {
        let device = SoftwareAuthenticator()
        device.change(attack.change)
        let error = #expect(throws: SecurityKeyError.self) { _ = try device.key.enroll(verification: .touch) }
        if let expected = attack.error { #expect(error == expected) }
        #expect(device.closeCount == device.openCount)
    }

    @Test("Messages with random changes are errors or the right secret", arguments: 0..<300)
    func randomMessages(_ round: Int) throws {
        let device = SoftwareAuthenticator()
        let credential = try device.key.enroll(verification: .touch)
        let secret = try device.key.secret(from: credential)
        device.change { $0.answer = { changed($1, round) } }
        check(device, credential, secret)
    }

    @Test("Reports with random changes are errors or the right secret", arguments: 0..<100)
    func randomReports(_ round: Int) throws {
        let device = SoftwareAuthenticator()
        let credential = try device.key.enroll(verification: .touch)
        let secret = try device.key.secret(from: credential)
        device.change { $0.reports = { $1.map { changed($0, round) } } }
        check(device, credential, secret)
    }

    private func check(_ device: SoftwareAuthenticator, _ credential: SecurityKeyCredential, _ secret: SharedSecret) {
        SecurityKey.$answerTimeout.withValue(.milliseconds(100)) {
            do {
                #expect(try device.key.secret(from: credential, timeout: .milliseconds(100)) == secret)
            } catch {
                #expect(error is SecurityKeyError)
            }
        }
        #expect(device.closeCount == device.openCount)
    }

    @Test("A false answer is an error by name, and the next operation succeeds", arguments: answers + frames + lies)
    func derivation(_ attack: Attack) throws {
        let device = SoftwareAuthenticator()
        let credential = try device.key.enroll(verification: .touch)
        let secret = try device.key.secret(from: credential)
        device.change(attack.change)
        let error = #expect(throws: SecurityKeyError.self) {
            _ = try device.key.deriveSecret(from: credential, timeout: attack.timeout)
        }
        if let expected = attack.error { #expect(error == expected) }
        device.change { $0 = SoftwareAuthenticator.Settings() }
        #expect(try device.key.secret(from: credential) == secret)
        #expect(device.closeCount == device.openCount)
    }
}

/// Keeps the last answer of a device.
private final class Recorder: Sendable {
    private let answer = Mutex<[UInt8]>([])

    var kept: [UInt8] { answer.withLock { $0 } }
    func keep(_ bytes: [UInt8]) { answer.withLock { $0 = bytes } }
}

/// Returns the bytes with one change, or unchanged: a bit, a number at a limit, or another length.
private func changed(_ bytes: [UInt8], _ round: Int) -> [UInt8] {
    guard !bytes.isEmpty, Bool.random() else { return bytes }
    var bytes = bytes
    let position = Int.random(in: 0..<bytes.count)
    switch round % 4 {
    case 0: bytes[position] ^= 1 << UInt8.random(in: 0..<8)
    case 1: bytes[position] = [0x00, 0x7F, 0x80, 0xFF, 0x5B, 0x9B, 0xBB, 0xBF].randomElement() ?? 0
    case 2: bytes.removeSubrange(position...)
    default: bytes.insert(contentsOf: Array(repeating: UInt8.random(in: 0...255), count: 5), at: position)
    }
    return bytes
}

private func replace(_ pair: CBOR.Pair, _ key: Int, _ value: CBOR) -> CBOR.Pair {
    pair.key == .integer(key) ? CBOR.Pair(pair.key, value) : pair
}

private func replace(_ report: [UInt8], at position: Int, _ bytes: [UInt8]) -> [UInt8] {
    Array(report.prefix(position)) + bytes + report.dropFirst(position + bytes.count)
}
