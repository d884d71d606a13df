// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import HardwareSecurity
import KeyServices
import KeychainModel
import KeychainTesting
import LatchkeyClient
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import Synchronization
import TPMTesting
import Testing
import TrustedPlatformModule

/// The view of users when the TPM cannot be used: a named error with a hint, in bounded time, and nothing is lost.
@Suite("A TPM that cannot be used", .enabled(if: SoftwareTPM.isInstalled))
struct TPMErrorTests {
    /// A keychain with its device key and a key of the Secure Enclave in a TPM. The test can change the responses of
    /// the TPM.
    private final class Fixture {
        let tpm: SoftwareTPM
        let module: TrustedPlatformModule
        private let clock: TestClock
        private let directory: TemporaryDirectory
        private var keychain: TestKeychain
        private let key: PersistentReference
        private let answers = Answers()

        init(hasTools: Bool = false, commandSeconds: Int = 30) throws {
            let tpm = try SoftwareTPM(hasTools: hasTools)
            let transport = AlteredTransport(tpm.address.transport) { [answers] (command, response) throws(TPMError) in
                try answers.function(command) ?? response
            }
            let module = TrustedPlatformModule(transport, commandSeconds: commandSeconds)
            let keychain = try TestKeychain(.onDisk, hardware: SecureHardware(module))
            directory = try #require(keychain.directory)
            (self.tpm, self.module, self.keychain, clock) = (tpm, module, keychain, keychain.clock)
            key = try keychain.run(groups: ["G1"]) {
                let session = try KeychainClient.session()
                _ = try session.add(
                    ItemAddition(
                        .genericPassword, attributes: [.account: .string("a")],
                        secrets: ItemSecrets(data: SharedSecret(copying: "secret".utf8)), protection: .always))
                let half = ItemAddition(
                    .key, attributes: [.tokenIdentifier: .string(EnclaveKind.requested)], protection: .always)
                let made = try session.generateKey(KeyGeneration(KeyKind(.ellipticCurve, bits: 256), privateHalf: half))
                #expect(try session.moveRoot(to: .tpm, nil, dryRun: false))
                return made.privateHalf.persistentReference
            }
        }

        deinit {
            keychain.service.close()
            module.close()
        }

        /// - Parameter function: returns the response in place of the TPM's to a command with this code, or nil for the
        ///   TPM's.
        func answering(_ function: (@Sendable (UInt32) throws(TPMError) -> [UInt8]?)?) { answers.set(function) }

        func sign() throws {
            try keychain.run(groups: ["G1"]) {
                let digest = SharedSecret(copying: [UInt8](repeating: 7, count: 32))
                _ = try KeychainClient.session().useKey(key, .signECDSA, on: digest)
            }
        }

        /// Opens the keychain as another process would.
        func reopen() throws {
            keychain.service.close()
            keychain = try TestKeychain(in: directory, clock: clock, hardware: SecureHardware(module))
        }

        func read() throws -> Bool {
            try keychain.run(groups: ["G1"]) {
                let found = try KeychainClient.session().copyMatching(
                    ItemQuery(.genericPassword, attributes: [.account: .string("a")]), returning: .data)
                return found.records.first?.secrets?.data == SharedSecret(copying: "secret".utf8)
            }
        }
    }

    /// The responses of a test in place of the TPM's.
    private final class Answers: Sendable {
        private let current = Mutex<(@Sendable (UInt32) throws(TPMError) -> [UInt8]?)?>(nil)

        func set(_ function: (@Sendable (UInt32) throws(TPMError) -> [UInt8]?)?) { current.withLock { $0 = function } }

        func function(_ command: UInt32) throws(TPMError) -> [UInt8]? {
            guard let function = current.withLock({ $0 }) else { return nil }
            return try function(command)
        }
    }

    /// A response without parameters (TCG TPM 2.0 Library, part 1, section 18).
    private static func response(code: UInt32) -> [UInt8] {
        [0x80, 0x01, 0, 0, 0, 10] + (0..<4).map { UInt8(truncatingIfNeeded: code >> (24 - 8 * $0)) }
    }

    private static let (load, sign, unseal): (UInt32, UInt32, UInt32) = (0x157, 0x15D, 0x15E)

    // MARK: Answers of the TPM

    /// The codes with which a TPM refuses a command that it cannot carry out now.
    enum Refusal: UInt32, CaseIterable {
        case failed = 0x101, memoryFull = 0x14B, noSlots = 0x902, noSessions = 0x903, lockedOut = 0x921
        case memoryRate = 0x920, memoryUnavailable = 0x923, retry = 0x922, testing = 0x90A, unknown = 0x1FF

        var problem: String {
            switch self {
            case .failed: "has failed its self-test"
            case .memoryFull: "non-volatile memory of the TPM is full"
            case .noSlots, .noSessions: "no free slot"
            case .lockedOut: "locked out"
            case .memoryRate, .memoryUnavailable: "cannot be written now"
            case .retry, .testing: "busy"
            case .unknown: "with the code 0x1ff"
            }
        }
    }

    @Test("Each refusal has a name and a hint, and ends with its cause", arguments: Refusal.allCases)
    func refusal(_ refusal: Refusal) throws {
        let fixture = try Fixture()
        for command in [Self.load, Self.sign, Self.unseal] {
            fixture.answering { $0 == command ? Self.response(code: refusal.rawValue) : nil }
            let error = #expect(throws: KeychainError.self, "\(command)") {
                command == Self.unseal ? try fixture.reopen() : try fixture.sign()
            }
            #expect(error?.status == .notAvailable)
            #expect(error?.problem.contains(refusal.problem) == true, "\(String(describing: error))")
            #expect((error?.hint != nil) == (refusal != .unknown))
        }
        fixture.answering(nil)
        try fixture.reopen()
        try fixture.sign()
        #expect(try fixture.read())
    }

    // MARK: The connection

    @Test("A TPM that is suspended ends each call in its time, and works again afterwards", .long)
    func suspended() throws {
        let fixture = try Fixture(commandSeconds: 2)
        fixture.tpm.pause()
        for _ in 0..<2 {
            let error = #expect(throws: KeychainError.self) { try fixture.sign() }
            #expect(error?.status == .notAvailable && error?.problem.contains("does not answer") == true)
            #expect(error?.hint?.contains("suspension") == true)
        }
        let error = #expect(throws: KeychainError.self) { try fixture.reopen() }
        #expect(error?.problem.contains("does not answer") == true)
        fixture.tpm.resume()
        try fixture.reopen()
        try fixture.sign()
        #expect(try fixture.read())
    }

    @Test("A TPM that loses its power in the middle of a command is used again", arguments: [load, sign])
    func powerFailure(_ command: UInt32) throws {
        let fixture = try Fixture()
        let tpm = fixture.tpm
        let failures = Mutex(0)
        fixture.answering { (found) throws(TPMError) in
            guard found == command,
                failures.withLock({
                    $0 += 1; return $0 == 1
                })
            else { return nil }
            tpm.stop()
            try? tpm.start()
            throw .lost(tpm.address)
        }
        // A connection that was open before is opened again; a new one ends with its name.
        do {
            try fixture.sign()
        } catch let error as KeychainError {
            #expect(error.problem.contains("the connection to the TPM at"))
        }
        #expect(failures.withLock { $0 } > 0)
        fixture.answering(nil)
        try fixture.sign()
        try fixture.reopen()
        #expect(try fixture.read())
    }

    @Test("A TPM that is gone is named, and a restarted one is used again")
    func gone() throws {
        let fixture = try Fixture()
        fixture.tpm.stop()
        for call in [fixture.sign, fixture.reopen] {
            let error = #expect(throws: KeychainError.self) { try call() }
            let texts = ["there is no TPM at", "the connection to the TPM at"]
            #expect(error?.status == .notAvailable && texts.contains { error?.problem.hasPrefix($0) == true })
            #expect(error?.hint != nil)
        }
        try fixture.tpm.start()
        try fixture.reopen()
        try fixture.sign()
        #expect(try fixture.read())
    }

    @Test("Another program that keeps the only connection ends calls in their time", .long)
    func occupied() throws {
        let fixture = try Fixture(commandSeconds: 2)
        fixture.module.close()
        let other = try fixture.tpm.address.transport.connect()
        let error = #expect(throws: KeychainError.self) { try fixture.sign() }
        #expect(error?.problem.contains("does not answer") == true)
        withExtendedLifetime(other) {}
        _ = consume other
        try fixture.sign()
    }

    // MARK: The owner and other programs

    @Test("A lockout that other programs cause does not stop the keychain", .enabled(if: SoftwareTPM.hasTools))
    func lockout() throws {
        let fixture = try Fixture(hasTools: true)
        fixture.module.close()
        let tpm = fixture.tpm
        #expect(try tpm.tool("tpm2_dictionarylockout", "-s", "-n", "1", "-t", "100000", "-l", "100000").status == 0)
        #expect(try tpm.tool("tpm2_createprimary", "-C", "o", "-G", "ecc", "-p", "right", "-c", "p.ctx").status == 0)
        #expect(try tpm.tool("tpm2_flushcontext", "-t").status == 0)
        for _ in 0..<2 { _ = try tpm.tool("tpm2_create", "-C", "p.ctx", "-P", "wrong", "-u", "u", "-r", "r") }
        #expect(try tpm.tool("tpm2_getcap", "properties-variable").output.contains(#/inLockout: +1/#))
        try fixture.sign()
        try fixture.reopen()
        #expect(try fixture.read())
    }

    @Test("An owner with a password is named, and nothing is changed", .enabled(if: SoftwareTPM.hasTools))
    func ownerPassword() throws {
        let fixture = try Fixture(hasTools: true)
        fixture.module.close()
        #expect(try fixture.tpm.tool("tpm2_changeauth", "-c", "owner", "secret").status == 0)
        for call in [fixture.sign, fixture.reopen] {
            let error = #expect(throws: KeychainError.self) { try call() }
            #expect(error?.problem == "the TPM's owner has a password" && error?.hint?.contains("changeauth") == true)
        }
        fixture.module.close()
        #expect(try fixture.tpm.tool("tpm2_changeauth", "-c", "owner", "-p", "secret").status == 0)
        try fixture.reopen()
        try fixture.sign()
        #expect(try fixture.read())
    }

    @Test("Without room for an index, the device key stays in its file", .enabled(if: SoftwareTPM.hasTools))
    func memoryFull() throws {
        let tpm = try SoftwareTPM(hasTools: true)
        let module = TrustedPlatformModule(tpm.address)
        defer { module.close() }
        // The TPM keeps space for some counters; these need indices of their own.
        var number = 0x0150_0000
        for options in [["-s", "2048"], ["-s", "64"], ["-s", "1"], ["-a", "ownerwrite|ownerread|nt=counter"]] {
            var isDefined = true
            while isDefined {
                number += 1
                let arguments = ["0x\(String(number, radix: 16))", "-C", "o"] + options
                isDefined = try tpm.run("tpm2_nvdefine", arguments).status == 0
            }
        }
        let keychain = try TestKeychain(.onDisk, hardware: SecureHardware(module))
        try keychain.run(groups: ["G1"]) {
            let session = try KeychainClient.session()
            let error = #expect(throws: KeychainError.self) { try session.moveRoot(to: .tpm, nil, dryRun: false) }
            #expect(error?.problem == "the non-volatile memory of the TPM is full")
            #expect(error?.hint?.contains("tpm2_nvundefine") == true)
            #expect(try session.status().root == .file)
        }
        keychain.service.close()
        let again = try TestKeychain(
            in: try #require(keychain.directory), clock: keychain.clock, hardware: SecureHardware(module))
        again.service.close()
    }
}
