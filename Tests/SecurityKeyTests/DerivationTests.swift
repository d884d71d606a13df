// SPDX-License-Identifier: Apache-2.0

import SecretMemory
import SecurityKey
@testable import SecurityKeyTesting
import Testing

@Suite("Security key", .longAnswerTimeout)
struct DerivationTests {
    /// The protocols of a device, and whether its tokens have permissions.
    struct Model: Sendable, CustomTestStringConvertible {
        let protocols: [Int]
        let hasPermissions: Bool
        let isSelfAttested: Bool

        var testDescription: String { "protocols \(protocols), permissions \(hasPermissions), self \(isSelfAttested)" }

        func key(pin: String?) -> SoftwareAuthenticator {
            var settings = SoftwareAuthenticator.Settings()
            settings.pin = pin
            settings.protocols = protocols
            settings.hasPermissions = hasPermissions
            settings.isSelfAttested = isSelfAttested
            return SoftwareAuthenticator(settings)
        }
    }

    static let models = [
        Model(protocols: [1], hasPermissions: false, isSelfAttested: true),
        Model(protocols: [2, 1], hasPermissions: true, isSelfAttested: true),
        Model(protocols: [2, 1], hasPermissions: true, isSelfAttested: false),
    ]

    @Test("A credential derives the same secret each time, with each protocol", arguments: models)
    func sameSecret(_ model: Model) throws {
        let device = model.key(pin: nil)
        let credential = try device.key.enroll(verification: .touch)
        let secret = try device.key.secret(from: credential)
        #expect(secret.count == 32)
        #expect(try device.key.secret(from: credential) == secret)
        let stored = try SecurityKeyCredential(decoding: credential.encoded)
        #expect(try device.key.secret(from: stored) == secret)
    }

    @Test("A credential with the PIN derives the same secret each time, with each protocol", arguments: models)
    func sameSecretWithPIN(_ model: Model) throws {
        let device = model.key(pin: "1234")
        let pin = try pin("1234")
        let credential = try device.key.enroll(verification: .pin, pin: pin)
        let secret = try device.key.secret(from: credential, pin: pin)
        #expect(try device.key.secret(from: credential, pin: pin) == secret)
    }

    @Test("An answer that announces one signature, as CTAP permits, is accepted")
    func announcedSignature() throws {
        let device = SoftwareAuthenticator()
        let credential = try device.key.enroll(verification: .touch)
        let secret = try device.key.secret(from: credential)
        device.change {
            $0.answer = { command, bytes in
                guard command == .getAssertion, case .map(let pairs)? = CBOR(bytes.dropFirst()) else { return bytes }
                return [0] + CBOR.map(pairs + [.init(.integer(5), .integer(1))]).encoded
            }
        }
        #expect(try device.key.secret(from: credential) == secret)
    }

    @Test("Another salt derives another secret")
    func otherSalt() throws {
        let device = SoftwareAuthenticator()
        let credential = try device.key.enroll(verification: .touch)
        let other = credential.withNewSalt()
        #expect(other.salt != credential.salt)
        #expect(other.id == credential.id)
        #expect(try device.key.secret(from: credential) != device.key.secret(from: other))
    }

    @Test(
        "The secret is HMAC-SHA256 of the salt, and neither it nor the PIN is transmitted in plaintext",
        arguments: [1, 2])
    func ciphertext(number: Int) throws {
        let device = SoftwareAuthenticator()
        device.change {
            $0.protocols = [number]
            $0.pin = "a PIN of more than a block"
        }
        let pin = try pin("a PIN of more than a block")
        let credential = try device.key.enroll(verification: .pin, pin: pin)
        let stored = try #require(device.state.credentials[credential.id])
        let expected = hmac(credential.salt, key: stored.secretWithPIN)
        #expect(try device.key.secret(from: credential, pin: pin) == SharedSecret(copying: expected))
        let pinHash = Array(try sha256(Array("a PIN of more than a block".utf8)).prefix(16))
        #expect(device.traffic.count > 10)
        for plaintext in [expected, Array("a PIN of more than a block".utf8), pinHash, credential.salt] {
            #expect(!device.traffic.contains { $0.contains(plaintext) })
        }
        #expect(device.traffic.contains { $0.contains(credential.id) })
    }

    @Test("A credential for a touch derives the same secret whether a PIN is given or not")
    func unusedPIN() throws {
        let device = SoftwareAuthenticator()
        device.change { $0.pin = "1234" }
        let credential = try device.key.enroll(verification: .touch, pin: try pin("1234"))
        let secret = try device.key.secret(from: credential)
        #expect(try device.key.secret(from: credential, pin: try pin("1234")) == secret)
        #expect(try device.key.secret(from: credential, pin: try pin("9999")) == secret)
        #expect(device.state.retries == 8)
    }

    @Test("Another device does not have the credential")
    func otherDevice() throws {
        let (device, other) = (SoftwareAuthenticator(), SoftwareAuthenticator())
        let credential = try device.key.enroll(verification: .touch)
        #expect(throws: SecurityKeyError.otherDevice) { _ = try other.key.deriveSecret(from: credential) }
        #expect(try device.key.hasCredential(credential))
        #expect(try !other.key.hasCredential(credential))
    }

    @Test("A device that only claims to have the credential cannot sign")
    func claimedCredential() throws {
        let device = SoftwareAuthenticator()
        let credential = try device.key.enroll(verification: .touch)
        device.change { $0.signsWrongly = true }
        #expect(throws: SecurityKeyError.wrongSignature) { _ = try device.key.hasCredential(credential) }
    }

    @Test("The question for a credential needs no touch and no PIN")
    func probeWithoutTouch() throws {
        let device = SoftwareAuthenticator()
        let credential = try device.key.enroll(verification: .touch)
        device.change {
            $0.touch = .never
            $0.pin = "1234"
        }
        #expect(try device.key.hasCredential(credential))
    }

    @Test("Credentials belong to the relying party latchkey, and are not stored on the device")
    func relyingParty() throws {
        let device = SoftwareAuthenticator()
        let one = try device.key.enroll(verification: .touch)
        let two = try device.key.enroll(verification: .touch)
        #expect(device.state.relyingParties == ["latchkey": 2])
        #expect(SecurityKey.relyingParty == "latchkey")
        #expect(one.id != two.id && one.salt != two.salt && one.publicKey != two.publicKey)
    }

    @Test("Every operation closes the device, also when it fails")
    func closes() throws {
        let device = SoftwareAuthenticator()
        let credential = try device.key.enroll(verification: .touch)
        _ = try device.key.deriveSecret(from: credential)
        device.change { $0.touch = .denied }
        #expect(throws: SecurityKeyError.denied) { _ = try device.key.deriveSecret(from: credential) }
        device.change { $0.supportsCTAP2 = false }
        #expect(throws: SecurityKeyError.notFIDO2) { _ = try device.key.describe() }
        #expect(device.openCount == 4)
        #expect(device.closeCount == device.openCount)
    }

    @Test("A device describes its model, its PIN and hmac-secret")
    func description() throws {
        let device = SoftwareAuthenticator()
        var description = try device.key.describe()
        #expect(description.aaguid == SoftwareAuthenticator.aaguid)
        #expect(description.supportsHMACSecret && !description.hasPIN && !description.alwaysVerifies)
        #expect(description.pinRetries == nil)
        device.change {
            $0.pin = "1234"
            $0.hasHMACSecret = false
            $0.alwaysVerifies = true
        }
        description = try device.key.describe()
        #expect(!description.supportsHMACSecret && description.hasPIN && description.alwaysVerifies)
        #expect(description.pinRetries == 8)
    }

    @Test("The list of connected devices can be read, also where there is none")
    func list() throws {
        for key in try SecurityKey.connected() { #expect(!key.path.isEmpty) }
    }
}
