// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import KeychainTesting
import SecretMemory
import Synchronization
import TPMTesting
import Testing
import TrustedPlatformModule

@Suite("The connection to a TPM", .enabled(if: SoftwareTPM.isInstalled))
struct TPMConnectionTests {
    private static let sign: UInt32 = 0x15D
    private static let readIndex: UInt32 = 0x14E
    private let authorization = SharedSecret(.random(count: 32))
    private let digest = [UInt8](repeating: 7, count: 32)

    @Test("A TPM that was restarted is used again, and one that is gone is named")
    func restart() throws {
        let tpm = try SoftwareTPM()
        let module = TrustedPlatformModule(tpm.address)
        let key = try module.createKey(authorization: authorization)
        for _ in 0..<3 {
            tpm.stop()
            try tpm.start()
            #expect(try module.sign(digest, with: key, authorization: authorization).count == 64)
        }
        tpm.stop()
        let error = #expect(throws: TPMError.self) {
            try module.sign(digest, with: key, authorization: authorization)
        }
        #expect(error == .lost(tpm.address) || error == .notFound(tpm.address))
        try tpm.start()
        #expect(try module.sign(digest, with: key, authorization: authorization).count == 64)
        module.close()
    }

    @Test(
        "A software TPM that closes the connection after each command is used, and restarted", arguments: [false, true])
    func disconnecting(_ isAtPort: Bool) throws {
        let tpm = try SoftwareTPM(hasTools: isAtPort, disconnects: true)
        let module = TrustedPlatformModule(tpm.address)
        let key = try module.createKey(authorization: authorization)
        let secret = SharedSecret(copying: Array(repeating: 5, count: 32))
        let object = try module.seal(secret, authorization: authorization)
        let (counter, first) = try module.createCounter(authorization: authorization)
        for round in 1...3 {
            #expect(try module.sign(digest, with: key, authorization: authorization).count == 64)
            #expect(try module.unseal(object, authorization: authorization) == secret)
            // Each command is sent once.
            #expect(try module.increment(counter, authorization: authorization) == first + UInt64(round))
            if isAtPort, SoftwareTPM.hasTools {
                #expect(try tpm.tool("tpm2_getcap", "properties-fixed").status == 0)
            }
        }
        tpm.stop()
        try tpm.start()
        #expect(try module.unseal(object, authorization: authorization) == secret)
        tpm.stop()
        let error = #expect(throws: TPMError.self) { try module.unseal(object, authorization: authorization) }
        #expect(error == .lost(tpm.address) || error == .notFound(tpm.address))
        module.close()
    }

    @Test("Slots that ended programs have left behind are freed")
    func leftBehind() throws {
        try #require(SoftwareTPM.hasTools)
        let tpm = try SoftwareTPM(hasTools: true)
        for _ in 0..<3 {
            #expect(try tpm.tool("tpm2_createprimary", "-C", "o", "-G", "ecc", "-c", "p.ctx").status == 0)
        }
        // No slot is left for tpm2-tools.
        #expect(try tpm.tool("tpm2_createprimary", "-C", "o", "-G", "ecc", "-c", "p.ctx").status != 0)
        let module = TrustedPlatformModule(tpm.address)
        for _ in 0..<4 {
            let key = try module.createKey(authorization: authorization)
            #expect(try module.sign(digest, with: key, authorization: authorization).count == 64)
            module.close()
        }
    }

    @Test("A TPM that does not answer ends the operation, and does not block the next one")
    func silence() throws {
        let tpm = try SoftwareTPM()
        let isSilent = Atomic(false)
        let transport = AlteredTransport(tpm.address.transport) { (_, response) throws(TPMError) in
            if isSilent.load(ordering: .acquiring) { throw .notResponding(.port(1)) }
            return response
        }
        let module = TrustedPlatformModule(transport)
        let key = try module.createKey(authorization: authorization)
        isSilent.store(true, ordering: .releasing)
        #expect(throws: TPMError.notResponding(.port(1))) {
            try module.sign(digest, with: key, authorization: authorization)
        }
        isSilent.store(false, ordering: .releasing)
        #expect(try module.sign(digest, with: key, authorization: authorization).count == 64)
        module.close()
    }

    @Test("The time of an operation is limited")
    func timeout() throws {
        // A server that accepts, and never answers.
        let server = try LoopbackServer { _ in .silence }
        let address = TPMAddress.port(UInt16(server.port))
        let module = TrustedPlatformModule(address.transport, commandSeconds: 1)
        #expect(throws: TPMError.notResponding(address)) { try module.properties() }
    }

    @Test("A changed response is refused: no byte of a signature can be changed on the way", arguments: [0, 1, 7])
    func changedSignature(_ bit: Int) throws {
        let tpm = try SoftwareTPM()
        let position = Mutex(0)
        let transport = AlteredTransport(tpm.address.transport) { (command, response) throws(TPMError) in
            var changed = response
            let index = position.withLock { $0 }
            if command == Self.sign, changed.indices.contains(index) { changed[index] ^= 1 << bit }
            return changed
        }
        let module = TrustedPlatformModule(transport)
        let key = try module.createKey(authorization: authorization)
        // Header, parameters, and the session with its authentication code.
        for index in 0..<150 {
            position.withLock { $0 = index }
            #expect(throws: TPMError.self, "byte \(index)") {
                try module.sign(digest, with: key, authorization: authorization)
            }
        }
        position.withLock { $0 = 10_000 }
        #expect(try module.sign(digest, with: key, authorization: authorization).count == 64)
        module.close()
    }

    @Test("A counter cannot be turned back on the way")
    func changedCounter() throws {
        let tpm = try SoftwareTPM()
        let earlier = Mutex<[UInt8]?>(nil)
        let isReplaying = Atomic(false)
        let transport = AlteredTransport(tpm.address.transport) { (command, response) throws(TPMError) in
            guard command == Self.readIndex else { return response }
            let recorded = earlier.withLock { earlier in
                if earlier == nil { earlier = response }
                return earlier
            }
            return isReplaying.load(ordering: .acquiring) ? recorded ?? response : response
        }
        let module = TrustedPlatformModule(transport)
        let (counter, first) = try module.createCounter(authorization: authorization)
        #expect(try module.increment(counter, authorization: authorization) == first + 1)
        isReplaying.store(true, ordering: .releasing)
        #expect(throws: TPMError.self) { try module.value(of: counter, authorization: authorization) }
        isReplaying.store(false, ordering: .releasing)
        #expect(try module.value(of: counter, authorization: authorization) == first + 1)
        module.close()
    }

    @Test("Secrets are not readable on the way")
    func encrypted() throws {
        let tpm = try SoftwareTPM()
        let seen = Mutex<[UInt8]>([])
        let transport = AlteredTransport(tpm.address.transport) { (_, response) throws(TPMError) in
            seen.withLock { $0 += response }
            return response
        }
        let module = TrustedPlatformModule(transport)
        let secret = SharedSecret(.random(count: 32))
        let object = try module.seal(secret, authorization: authorization)
        #expect(try module.unseal(object, authorization: authorization) == secret)
        let limited = try module.seal(secret, pin: authorization, limit: 3)
        #expect(try module.unseal(limited, pin: authorization) == secret)
        module.close()
        let bytes = Data(seen.withLock { $0 })
        #expect(bytes.count > 1000)
        #expect(secret.withUnsafeBytes { bytes.range(of: Data($0)) } == nil)
    }

    @Test("Responses of every length and of random bytes end in an error")
    func hostile() throws {
        let tpm = try SoftwareTPM()
        let generator = Mutex(SystemRandomNumberGenerator())
        let mode = Mutex(0)
        let transport = AlteredTransport(tpm.address.transport) { (_, response) throws(TPMError) in
            let mode = mode.withLock { $0 }
            var random = generator.withLock { generator in
                (0..<64).map { _ in UInt8.random(in: 0...255, using: &generator) }
            }
            switch mode {
            case 0: return response
            case 1: return Array(response.prefix(Int(random[0]) % max(1, response.count)))
            case 2: return random
            case 3:
                // A well-formed header, then anything.
                let length = 10 + random.count
                random = [0x80, random[0] & 1 + 1, 0, 0, UInt8(length >> 8), UInt8(length & 0xFF), 0, 0, 0, 0] + random
                return random
            case 4: return response + random
            default:
                var changed = response
                for value in random.prefix(3) { changed[Int(value) % changed.count] ^= value }
                return changed
            }
        }
        let module = TrustedPlatformModule(transport)
        let key = try module.createKey(authorization: authorization)
        let publicKey = try P256.Signing.PublicKey(x963Representation: key.publicPoint())
        let message = Data("message".utf8)
        let hash = SHA256.hash(data: message)
        for round in 0..<200 {
            mode.withLock { $0 = 1 + round % 5 }
            // A changed signature would be a valid result for the reader; it must not be returned.
            if let signature = try? module.sign(Array(hash), with: key, authorization: authorization) {
                #expect(publicKey.isValidSignature(try .init(rawRepresentation: signature), for: hash))
            }
            _ = try? module.properties()
            _ = try? module.createCounter(authorization: authorization)
        }
        mode.withLock { $0 = 0 }
        #expect(try module.sign(digest, with: key, authorization: authorization).count == 64)
        module.close()
    }
}
