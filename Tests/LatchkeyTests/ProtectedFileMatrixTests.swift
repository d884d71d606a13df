// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import Latchkey
import Testing

/// The operations on a file of each class that succeed in each state of the lock.
@Suite("Protected files and the lock")
struct ProtectedFileMatrixTests {
    enum Operation: CaseIterable {
        case create, open, readOpen, writeOpen, appendOpen, delete, rename, changeClass

        /// Those that need neither the key of the file nor a class key.
        var isOfDirectory: Bool { self == .delete || self == .rename }
    }

    enum State: CaseIterable { case unlocked, locked, beforeFirstUnlock }

    /// A class in a state, on a backend.
    struct Case: CustomStringConvertible {
        let backend: Backend
        let protection: FileProtectionClass
        let state: State

        var description: String { "\(protection), \(state), \(backend.rawValue)" }

        /// The operations that succeed. A handle that was open before the lock is not tested before the first unlock:
        /// no process has one.
        var allowed: Set<Operation> {
            let handles: Set<Operation> = [.readOpen, .writeOpen, .appendOpen]
            return switch (protection, state) {
            case (_, .unlocked), (.none, .locked), (.completeUntilFirstUserAuthentication, .locked):
                Set(Operation.allCases)
            case (.complete, .locked): [.delete, .rename]
            case (.completeUnlessOpen, .locked): handles.union([.create, .delete, .rename])
            case (.none, .beforeFirstUnlock): Set(Operation.allCases).subtracting([.changeClass])
            case (.completeUnlessOpen, .beforeFirstUnlock): [.create, .delete, .rename]
            case (_, .beforeFirstUnlock): [.delete, .rename]
            }
        }

        static let all = Backend.everywhere.flatMap { backend in
            FileProtectionClass.allCases.flatMap { protection in
                State.allCases.filter { $0 != .beforeFirstUnlock || backend != .ephemeral }.map {
                    Case(backend: backend, protection: protection, state: $0)
                }
            }
        }
    }

    @Test("Every class obeys the lock in every operation", .long, arguments: Case.all)
    func matrix(_ expected: Case) throws {
        let directory = try TemporaryDirectory()
        var keychain = try TestKeychain(expected.backend)
        var open: ProtectedFile?
        try keychain.run(groups: ["G1"]) {
            for operation in Operation.allCases where operation != .create {
                try ProtectedFile.write(
                    Data("before".utf8), to: directory.path + "/\(operation)", protection: expected.protection)
            }
            try Keychain.default.setPasscode("correct horse")
            // Files of the generation before the passcode and of the present one.
            try ProtectedFile.write(
                Data("before".utf8), to: directory.path + "/\(Operation.open)", protection: expected.protection)
            open = try ProtectedFile(directory.path + "/\(Operation.readOpen)", for: .updating)
            if expected.state == .locked { try Keychain.default.lock(immediately: true) }
        }
        if expected.state == .beforeFirstUnlock {
            try open?.close()
            open = nil
            keychain = try keychain.reopened()
        }
        try keychain.run(groups: ["G1"]) {
            // latchkeyd tells its programs of a lock, so the lock reaches an open file a moment later.
            if let open, expected.state != .unlocked, !expected.allowed.contains(.readOpen) {
                #expect(eventually { (try? open.read(at: 0, count: 1)) == nil })
            }
            for operation in Operation.allCases where expected.state != .beforeFirstUnlock || !operation.needsHandle {
                let result = Result { try Self.perform(operation, in: directory.path, expected.protection, open) }
                switch (expected.allowed.contains(operation), result) {
                case (true, .success): break
                case (true, .failure(let error)): Issue.record("\(operation) failed: \(error)")
                case (false, .success): Issue.record("\(operation) succeeded")
                case (false, .failure(let error)):
                    #expect((error as? KeychainError)?.status == .interactionNotAllowed, "\(operation): \(error)")
                }
            }
            guard expected.state != .unlocked else { return }
            try Keychain.default.unlock(passcode: "correct horse")
            // The handle works again, and files that were created while the keychain was locked open.
            if let open { #expect(try open.read(at: 0, count: 3) == Data((try open.length > 6 ? "new" : "bef").utf8)) }
            if expected.allowed.contains(.create) {
                #expect(try ProtectedFile.contents(of: directory.path + "/create") == Data("created".utf8))
            }
            #expect(try ProtectedFile.contents(of: directory.path + "/open") == Data("before".utf8))
        }
    }

    private static func perform(
        _ operation: Operation, in directory: String, _ protection: FileProtectionClass, _ open: ProtectedFile?
    ) throws {
        let path = "\(directory)/\(operation)"
        switch operation {
        case .create:
            let file = try ProtectedFile.create(path, protection: protection)
            try file.append(Data("created".utf8))
            try file.close()
        case .open: #expect(try ProtectedFile.contents(of: path) == Data("before".utf8))
        case .readOpen: #expect(try #require(open).read(at: 0, count: 100) == Data("before".utf8))
        case .writeOpen:
            try #require(open).write(Data("new".utf8), at: 0)
            try #require(open).synchronize()
        case .appendOpen: try #require(open).append(Data("more".utf8))
        case .delete: #expect(unlink(path) == 0)
        case .rename: #expect(Glibc.rename(path, path + ".renamed") == 0)
        case .changeClass:
            let file = try ProtectedFile(path, for: .updating)
            try file.setProtection(protection == .none ? .completeUntilFirstUserAuthentication : .none)
        }
    }
}

extension ProtectedFileMatrixTests.Operation {
    fileprivate var needsHandle: Bool { self == .readOpen || self == .writeOpen || self == .appendOpen }
}
