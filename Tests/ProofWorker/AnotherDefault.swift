// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainSessions
import Latchkey
import LatchkeyClient
import LatchkeyService
import LinuxSystem

/// Checks of file keys (of the login keychain) and change reports (of all keychains) while another keychain is the
/// default one.
enum AnotherDefault {
    static func run(in directory: String) -> Int32 {
        let checks = Checks()
        do {
            try prepare()
            try files(in: directory, checks)
            try changes(checks)
        } catch {
            checks.fail("\(error)")
        }
        Worker.say(checks.failures == 0 ? "passed" : "failed")
        return checks.failures == 0 ? 0 : 1
    }

    private static func prepare() throws(KeychainError) {
        try Keychain.named("login").setPasscode("correct horse")
        try Keychain.create("build")
        guard let build = KeychainName("build") else { throw .itemNotFound }
        try KeychainClient.registry().changeKeychainList(.defaultKeychain(build))
    }

    /// The lock of the keychain that every user has closes the keys of files.
    private static func files(in directory: String, _ checks: Checks) throws(KeychainError) {
        let login = try Keychain.named("login")
        try login.unlock(passcode: "correct horse")
        let file = try ProtectedFile.create(directory + "/file", protection: .complete)
        try file.append(Data("text".utf8))
        checks.same("open", try file.read(at: 0, count: 4), Data("text".utf8))
        try login.lock(immediately: true)
        checks.same("locked", eventually { isClosed(file) }, true)
        checks.same(
            "opened again",
            isClosed { () throws(KeychainError) in
                _ = try ProtectedFile(directory + "/file").read(at: 0, count: 4)
            }, true)
        try login.unlock(passcode: "correct horse")
        checks.same("unlocked", try file.read(at: 0, count: 4), Data("text".utf8))
    }

    private static func isClosed(_ file: ProtectedFile) -> Bool {
        isClosed { () throws(KeychainError) in _ = try file.read(at: 0, count: 4) }
    }

    private static func isClosed(_ body: () throws(KeychainError) -> Void) -> Bool {
        do throws(KeychainError) {
            try body()
            return false
        } catch {
            return error.status == .interactionNotAllowed
        }
    }

    /// Changes of every keychain that is searched are reported.
    private static func changes(_ checks: Checks) throws(KeychainError) {
        let count = SystemMutex(0)
        let session = try KeychainClient.session()
        let number = try session.addChangeObserver { event in
            if case .changed = event { count.withLock { $0 += 1 } }
        }
        for (expected, name) in ["build", "login"].enumerated() {
            let before = count.withLock { $0 }
            try Keychain.named(name).set(GenericPassword(service: "s\(expected)", account: name), to: "x")
            checks.same("change in \(name)", eventually { count.withLock { $0 } > before }, true)
        }
        session.removeChangeObserver(number)
    }

    private static func eventually(_ condition: () -> Bool) -> Bool {
        let end = ContinuousClock.now + .seconds(60)
        while !condition() {
            guard ContinuousClock.now < end else { return condition() }
            usleep(2000)
        }
        return true
    }
}
