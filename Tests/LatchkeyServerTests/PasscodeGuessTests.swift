// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainModel
import KeychainTesting
import LatchkeyOperations
import LatchkeyProtocol
@testable import LatchkeyServer
@_spi(Testing) import LatchkeyService
import SecretMemory
import Testing

/// The programs that gave wrong passcodes, as the daemon reports them from its audit log.
@Suite("Wrong passcodes")
struct PasscodeGuessTests {
    private let passcode = SharedSecret(copying: "correct horse battery".utf8)
    private let owner = CallerIdentity(executable: "/usr/bin/latchkey", isUserCommand: true)
    private let guesser = CallerIdentity(executable: "/tmp/guesser")

    /// Two are enough where the log counts: it counts repetitions as well.
    private func wrong(_ number: Int) -> SharedSecret { SharedSecret(copying: "wrong passcode \(number % 2)".utf8) }

    private func status(_ fixture: ServerFixture, as caller: CallerIdentity? = nil) throws -> LockStatus {
        guard case .content(let status as LockStatus) = try fixture.client(as: caller ?? owner).ask(ReadLockStatus())
        else {
            throw WireError.ended
        }
        return status
    }

    @Test(
        "The status names the programs that gave wrong passcodes, with times, until the right passcode is given"
    )
    func guesses() throws {
        let fixture = try ServerFixture()
        #expect(try fixture.client(as: owner).ask(SetPasscode(passcode)).problem == nil)
        #expect(try fixture.client(as: owner).ask(UnlockKeychain(wrong(0))).problem?.status == .authFailed)
        fixture.clock.advance(by: 10)
        var entered = 0
        try enterWrongPasscodes(2...5, counted: { try status(fixture).wrongPasscodes }) { text in
            let request = UnlockKeychain(SharedSecret(copying: text.utf8))
            let answer = try fixture.client(as: guesser).ask(request)
            #expect(answer.problem?.status == .authFailed)
            entered += 1
        }
        fixture.clock.advance(by: 20)
        // During the delay, passcodes are neither checked nor counted.
        #expect(try fixture.client(as: owner).ask(UnlockKeychain(passcode)).problem?.status == .authFailed)
        let delayed = try status(fixture)
        #expect(delayed.wrongPasscodes == 5 && delayed.delay == 40)
        #expect(delayed.delayBegan == 1_795_348_810)
        #expect(delayed.guesses.map(\.program) == ["/usr/bin/latchkey", "/tmp/guesser"])
        #expect(delayed.guesses.map(\.count) == [1, entered])
        #expect(delayed.guesses.last?.first == 1_795_348_810 && delayed.guesses.last?.last == 1_795_348_810)
        #expect(delayed.guesses.allSatisfy { $0.user != nil && $0.process != nil })
        fixture.clock.advance(by: 40)
        #expect(try fixture.client(as: owner).ask(UnlockKeychain(passcode)).problem == nil)
        #expect(try status(fixture).guesses.isEmpty)
        #expect(try fixture.client(as: guesser).ask(UnlockKeychain(wrong(9))).problem?.status == .authFailed)
        #expect(try status(fixture).guesses.map(\.program) == ["/tmp/guesser"])
    }

    @Test("A restarted daemon knows them from the log, including those that were only counted")
    func afterRestart() throws {
        let directory = try TemporaryDirectory()
        do {
            let fixture = try ServerFixture(directory: directory)
            #expect(try fixture.client(as: owner).ask(SetPasscode(passcode)).problem == nil)
            for number in 1...3 {
                #expect(
                    try fixture.client(as: guesser).ask(UnlockKeychain(wrong(number))).problem?.status == .authFailed)
            }
            #expect(try status(fixture).guesses.map(\.count) == [3])
        }
        let again = try ServerFixture(directory: directory)
        #expect(try status(again).guesses.map(\.program) == ["/tmp/guesser"])
        #expect(try status(again).guesses.map(\.count) == [3])
        #expect(try again.client(as: guesser).ask(UnlockKeychain(wrong(4))).problem?.status == .authFailed)
        #expect(try status(again).guesses.map(\.count) == [4])
    }

    @Test("A program in a sandbox gets no information about other programs")
    func sandboxed() throws {
        let fixture = try ServerFixture()
        #expect(try fixture.client(as: owner).ask(SetPasscode(passcode)).problem == nil)
        #expect(try fixture.client(as: guesser).ask(UnlockKeychain(wrong(1))).problem?.status == .authFailed)
        let sandboxed = CallerIdentity(
            executable: "/app/bin/app", sandbox: .application(group: "flatpak.org.example.App"))
        let told = try status(fixture, as: sandboxed)
        #expect(told.wrongPasscodes == 1 && told.guesses.isEmpty)
    }

    @Test("A refusal for another reason does not count as a wrong passcode")
    func otherRefusals() throws {
        let fixture = try ServerFixture()
        #expect(try fixture.client(as: owner).ask(SetPasscode(passcode)).problem == nil)
        let refusals: [any KeychainOperation] = [
            // No passcode; a passphrase that is too short; no recovery key; a passcode that is
            // already set.
            CreateRecoveryKey(nil), BackUpKeychain(under: SharedSecret(copying: "x".utf8), passcode: passcode),
            RecoverKeychain(with: SharedSecret(copying: "x".utf8), newPasscode: passcode), SetPasscode(passcode),
        ]
        for request in refusals { #expect(try fixture.client(as: guesser).ask(request).problem != nil, "\(request)") }
        let log = try #require(try fixture.server.provider.keychain(of: geteuid()).audit)
        #expect(try log.passcodeGuesses().isEmpty)
    }

    @Test("Of sixteen programs with wrong passcodes, the last eight are reported")
    func bounded() throws {
        let fixture = try ServerFixture()
        #expect(try fixture.client(as: owner).ask(SetPasscode(passcode)).problem == nil)
        for number in 0..<16 {
            let caller = CallerIdentity(executable: "/tmp/guesser\(number)")
            #expect(try fixture.client(as: caller).ask(UnlockKeychain(wrong(1))).problem?.status == .authFailed)
        }
        #expect(try status(fixture).guesses.map(\.program) == (8..<16).map { "/tmp/guesser\($0)" })
    }
}
