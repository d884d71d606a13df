// SPDX-License-Identifier: Apache-2.0

import SecretMemory
import SecurityKey
@testable import SecurityKeyTesting
import Testing

@Suite("PIN of a security key", .longAnswerTimeout)
struct SecurityKeyPINTests {
    private let device: SoftwareAuthenticator

    init() {
        device = SoftwareAuthenticator()
        device.change { $0.pin = "1234" }
    }

    @Test("A credential with the PIN is not used without it, and the device is not asked")
    func required() throws {
        let credential = try device.key.enroll(verification: .pin, pin: try pin("1234"))
        let count = device.openCount
        #expect(throws: SecurityKeyError.pinRequired) { _ = try device.key.deriveSecret(from: credential) }
        #expect(throws: SecurityKeyError.pinRequired) { _ = try device.key.enroll(verification: .pin) }
        #expect(device.openCount == count)
    }

    @Test("A device that creates no credential without the PIN says so")
    func requiredByDevice() throws {
        #expect(throws: SecurityKeyError.pinRequired) { _ = try device.key.enroll(verification: .touch) }
    }

    @Test(
        "A wrong PIN is reported with the attempts that are left, and the right one resets them",
        arguments: [[1], [2, 1]])
    func wrong(protocols: [Int]) throws {
        device.change { $0.protocols = protocols }
        let credential = try device.key.enroll(verification: .pin, pin: try pin("1234"))
        for left in [7, 6] {
            #expect(throws: SecurityKeyError.wrongPIN(retries: left)) {
                _ = try device.key.deriveSecret(from: credential, pin: try pin("4321"))
            }
            #expect(try device.key.describe().pinRetries == left)
        }
        _ = try device.key.deriveSecret(from: credential, pin: try pin("1234"))
        #expect(try device.key.describe().pinRetries == 8)
    }

    @Test("After three wrong PINs the device accepts none until it is plugged in again, and after eight none at all")
    func blocked() throws {
        let credential = try device.key.enroll(verification: .pin, pin: try pin("1234"))
        func attempt(_ text: String) -> SecurityKeyError? {
            do throws(SecurityKeyError) {
                _ = try device.key.deriveSecret(from: credential, pin: SecurityKeyPIN(SharedSecret(copying: text.utf8)))
                return nil
            } catch {
                return error
            }
        }
        #expect([attempt("0000"), attempt("0000")] == [.wrongPIN(retries: 7), .wrongPIN(retries: 6)])
        #expect(attempt("0000") == .pinPaused)
        #expect(attempt("1234") == .pinPaused)
        for _ in 0..<4 {
            device.replug()
            _ = attempt("0000")
        }
        device.replug()
        #expect(attempt("0000") == .pinBlocked)
        #expect(attempt("1234") == .pinBlocked)
        #expect(try device.key.describe().pinRetries == 0)
    }

    @Test("The PIN is not sent to another device, nor to one that only claims to have the credential")
    func notSent() throws {
        let credential = try device.key.enroll(verification: .pin, pin: try pin("1234"))
        let other = SoftwareAuthenticator()
        other.change { $0.pin = "4321" }
        #expect(throws: SecurityKeyError.otherDevice) {
            _ = try other.key.deriveSecret(from: credential, pin: try pin("1234"))
        }
        #expect(other.state.retries == 8)
        let count = device.commands.count
        device.change { $0.signsWrongly = true }
        #expect(throws: SecurityKeyError.wrongSignature) {
            _ = try device.key.deriveSecret(from: credential, pin: try pin("1234"))
        }
        for commands in [other.commands[...], device.commands.dropFirst(count)] {
            #expect(commands.contains(.getAssertion))
            #expect(!commands.contains(.getPINToken) && !commands.contains(.getPINTokenWithPermissions))
        }
    }

    @Test(
        "A device with alwaysUv derives with the PIN, whether it proves without it that it was enrolled or not",
        arguments: [true, false])
    func alwaysVerifiesWithPIN(provesWithoutPIN: Bool) throws {
        device.change {
            $0.alwaysVerifies = true
            $0.provesWithoutPIN = provesWithoutPIN
        }
        let credential = try device.key.enroll(verification: .pin, pin: try pin("1234"))
        #expect(credential.provesWithoutPIN == provesWithoutPIN)
        let secret = try device.key.secret(from: credential, pin: try pin("1234"))
        #expect(try device.key.secret(from: credential, pin: try pin("1234")) == secret)
        if provesWithoutPIN {
            #expect(try device.key.hasCredential(credential))
        } else {
            #expect(throws: SecurityKeyError.pinRequired) { _ = try device.key.hasCredential(credential) }
        }
    }

    @Test("A device that claims alwaysUv does not receive the PIN, if the enrolled device proved without it")
    func claimedAlwaysVerifies() throws {
        let credential = try device.key.enroll(verification: .pin, pin: try pin("1234"))
        #expect(credential.provesWithoutPIN)
        let hostile = SoftwareAuthenticator()
        hostile.change {
            $0.pin = "4321"
            $0.alwaysVerifies = true
        }
        #expect(throws: SecurityKeyError.proofRefused) {
            _ = try hostile.key.deriveSecret(from: credential, pin: try pin("1234"))
        }
        #expect(throws: SecurityKeyError.proofRefused) { _ = try hostile.key.hasCredential(credential) }
        #expect(hostile.commands.contains(.getAssertion) && hostile.state.retries == 8)
        #expect(
            !hostile.commands.contains(.getPINToken) && !hostile.commands.contains(.getPINTokenWithPermissions))
    }

    @Test("A device that cannot sign with the key of its new credential is not enrolled with the PIN")
    func enrollmentWithoutProof() throws {
        device.change {
            // Without an attestation, nothing else shows it at the enrollment.
            $0.isSelfAttested = false
            $0.signsWrongly = true
        }
        #expect(throws: SecurityKeyError.wrongSignature) {
            _ = try device.key.enroll(verification: .pin, pin: try pin("1234"))
        }
    }

    @Test("The secret with the PIN and the secret without it are different")
    func otherSecret() throws {
        let credential = try device.key.enroll(verification: .pin, pin: try pin("1234"))
        let withPIN = try device.key.secret(from: credential, pin: try pin("1234"))
        let weaker = try SecurityKeyCredential(
            id: credential.id, publicKey: credential.publicKey, salt: credential.salt, verification: .touch)
        #expect(try device.key.secret(from: weaker) != withPIN)
    }

    @Test("A device that requires the PIN for everything does not derive for a credential without it")
    func alwaysVerifies() throws {
        let credential = try device.key.enroll(verification: .touch, pin: try pin("1234"))
        device.change { $0.alwaysVerifies = true }
        #expect(throws: SecurityKeyError.pinRequired) { _ = try device.key.deriveSecret(from: credential) }
    }

    @Test("A device without a PIN says so")
    func notSet() throws {
        device.change { $0.pin = nil }
        #expect(throws: SecurityKeyError.pinNotSet) {
            _ = try device.key.enroll(verification: .pin, pin: try pin("1234"))
        }
    }

    @Test(
        "A PIN has 4 to 63 bytes of UTF-8 without a null character",
        arguments: [
            ("", false), ("123", false), ("1234", true), (String(repeating: "1", count: 63), true),
            (String(repeating: "1", count: 64), false), ("12\u{0}34", false), ("pässword", true),
        ])
    func forms(_ text: String, isValid: Bool) {
        #expect(((try? pin(text)) != nil) == isValid)
    }

    @Test("A PIN that is not UTF-8 is rejected")
    func notText() {
        #expect(throws: SecurityKeyError.invalidPIN) {
            _ = try SecurityKeyPIN(SharedSecret(copying: [0x31, 0x32, 0xFF, 0x34]))
        }
    }
}
