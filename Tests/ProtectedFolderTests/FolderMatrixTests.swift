// SPDX-License-Identifier: Apache-2.0

import FileProtection
import Foundation
import Glibc
import KeychainModel
import KeychainSessions
import KeychainTesting
import Latchkey
import LatchkeyClient
import LatchkeyOperations
import LatchkeyService
import LinuxSystem
import SecretMemory
import ProtectedFolder
import Testing

/// The operations of programs in a mounted folder of each class, in each state of a real keychain's lock.
@Suite("Mounted folders and the lock", .enabled(if: TestFolder.isAvailable, TestFolder.reason), .serialized)
struct FolderMatrixTests {
    struct Case: CustomStringConvertible {
        let backend: Backend
        let protection: FileProtectionClass

        var description: String { "\(protection), \(backend.rawValue)" }

        static let all = [Backend.ephemeral, .daemon].flatMap { backend in
            FileProtectionClass.allCases.map { Case(backend: backend, protection: $0) }
        }
    }

    /// The operations, and whether they succeed while the keychain is locked.
    private static func expected(_ protection: FileProtectionClass) -> [String: Bool] {
        let (isA, isB) = (protection == .complete, protection == .completeUnlessOpen)
        return [
            "create": !isA, "open": !isA && !isB, "read an open file": !isA, "write an open file": !isA,
            "append to an open file": !isA, "list": !isA, "delete": !isA, "rename": !isA,
        ]
    }

    @Test("Programs get EACCES while the class is closed, and nothing else changes", arguments: Case.all)
    func matrix(_ row: Case) throws {
        let (keychain, directory) = (try TestKeychain(row.backend), try TemporaryDirectory())
        let (store, mount) = (directory.path + "/store", directory.path + "/mount")
        for place in [store, mount] { #expect(mkdir(place, 0o700) == 0) }
        let identity = CallerIdentity(executable: "/usr/bin/latchkey", isUserCommand: true)
        let session = KeychainSession(keychain.service, as: identity)
        let keys = SessionFileKeys { session }
        let folder = try MountedFolder(of: FilePath(store), at: FilePath(mount), row.protection, keys: keys) { _ in }
        let ended = BinarySemaphore()
        ended.acquire()
        #expect(
            BackgroundThread.run {
                folder.run(); ended.release()
            })
        defer {
            folder.unmount()
            ended.acquire()
            // A semaphore must not end while it is acquired.
            ended.release()
        }
        for name in ["open", "handle", "delete", "rename"] {
            try Call.write(Array("before".utf8), to: "\(mount)/\(name)")
        }
        try session.service.administrator.setPasscode(SharedSecretText.passcode) { _, _ in }
        let handle = try Call.open("\(mount)/handle", O_RDWR)
        defer { close(handle) }
        #expect(try Call.read("\(mount)/open") == Array("before".utf8))
        // The reaction of the command to each new state.
        let observation = try keys.observeLock { state in
            let isOpen =
                switch row.protection {
                case .complete, .completeUnlessOpen: state == .unlocked
                case .completeUntilFirstUserAuthentication: state != .beforeFirstUnlock
                case .none: true
                }
            folder.lockStateChanged(isOpen: isOpen)
        }
        try session.service.administrator.lock(immediately: true)
        // The daemon's clients learn it on a thread of their own.
        if row.protection == .complete {
            #expect(eventually { Call.code { _ = try Call.read("\(mount)/open") } != 0 })
        }
        let actions: [String: () throws -> Void] = [
            "create": { try Call.write(Array("new".utf8), to: "\(mount)/created") },
            "open": {
                let found = try Call.read("\(mount)/open")
                #expect(found == Array("before".utf8))
            },
            "read an open file": {
                var bytes = [UInt8](repeating: 0, count: 6)
                try Call.check(pread(handle, &bytes, 6, 0))
                #expect(bytes == Array("before".utf8))
            },
            "write an open file": { try Call.check(pwrite(handle, "new", 3, 0)) },
            "append to an open file": { try Call.check(pwrite(handle, "more", 4, 6)) },
            "list": {
                guard let stream = opendir(mount) else { throw Call.Failed(code: errno) }
                defer { closedir(stream) }
                errno = 0
                var names = 0
                while readdir(stream) != nil { names += 1 }
                guard errno == 0, names > 2 else { throw Call.Failed(code: errno) }
            },
            "delete": { try Call.check(unlink("\(mount)/delete")) },
            "rename": { try Call.check(Glibc.rename("\(mount)/rename", "\(mount)/renamed")) },
        ]
        let order = [
            "create", "open", "read an open file", "write an open file", "append to an open file", "list", "delete",
            "rename",
        ]
        for name in order {
            let code = Call.code { try actions[name]?() }
            let succeeds = Self.expected(row.protection)[name] == true
            #expect(code == (succeeds ? 0 : EACCES), "\(name): \(code)")
        }
        try session.service.administrator.unlock(SharedSecretText.passcode) { _, _ in }
        #expect(eventually { Call.code { _ = try Call.read("\(mount)/open") } != EACCES })
        #expect(try Call.read("\(mount)/open") == Array("before".utf8))
        if row.protection != .complete { #expect(try Call.read("\(mount)/created") == Array("new".utf8)) }
        withExtendedLifetime(observation) {}
    }
}

private enum SharedSecretText {
    static let passcode = SharedSecret(copying: "correct horse".utf8)
}
