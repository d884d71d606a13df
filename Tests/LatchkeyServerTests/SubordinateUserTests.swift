// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
@testable import LatchkeyClient
import LatchkeyOperations
@testable import LatchkeyServer
import LatchkeyService
import LinuxSystem
import SecretMemory
import Testing

/// Users that a system daemon refuses completely.
@Suite("Subordinate users")
struct SubordinateUserTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// A provider that refuses every connection.
    private struct ClosedProvider: KeychainProvider {
        static let refusal = KeychainError(
            .missingEntitlement, "user 100000 has no keychain", hint: "run it as another user")
        let provider: HomeProvider

        func requireAllowedUser(of user: UInt32) throws(KeychainError) { throw Self.refusal }

        func modeAndHome(
            for keychain: UserKeychain
        ) throws(KeychainError) -> (mode: KeychainStatus.Mode, home: KeychainHome?) {
            try provider.modeAndHome(for: keychain)
        }
        func open(_ keychain: UserKeychain) throws(KeychainError) -> ServedKeychain { try provider.open(keychain) }
        func openSearchList(of user: UInt32) throws(KeychainError) -> ServedKeychain {
            try provider.openSearchList(of: user)
        }
        func defaultKeychain(of user: UInt32) throws(KeychainError) -> KeychainName {
            try provider.defaultKeychain(of: user)
        }
        func registry(of user: UInt32) throws(KeychainError) -> any KeychainRegistry {
            try provider.registry(of: user)
        }
        func rescue(of keychain: UserKeychain) -> any KeychainRescue { provider.rescue(of: keychain) }
        func closeIdle() -> UInt64? { provider.closeIdle() }
        func openKeychains(of user: UInt32) -> [ServedKeychain] { provider.openKeychains(of: user) }
        func forEachOpen(_ body: (ServedKeychain) -> Void) { provider.forEachOpen(body) }
        func close() { provider.close() }
    }

    @Test(
        "The system's daemon refuses subordinate ids, unless it is configured without them", arguments: [true, false])
    func provider(_ allows: Bool) throws {
        let (ranges, users) = ("\(directory.path)/subuid", "\(directory.path)/passwd")
        try "alice:100000:65536\n".write(toFile: ranges, atomically: true, encoding: .utf8)
        try "bob:x:100007:100007::/:/bin/sh\n".write(toFile: users, atomically: true, encoding: .utf8)
        let provider = HomeProvider(
            stateDirectory: directory.path, subordinates: allows ? nil : SubordinateUsers(ranges, users: users))
        defer { provider.close() }
        func isAdmitted(_ user: UInt32) -> Bool { (try? provider.requireAllowedUser(of: user)) != nil }
        #expect([0, 1000, 99_999, 100_007, 165_536].allSatisfy(isAdmitted))
        #expect([100_000, 165_535].allSatisfy { isAdmitted($0) == allows })
    }

    /// Returns only the client's end: the server closes the other end when it releases the last
    /// reference.
    private static func connected(to server: KeychainServer) throws -> RawClient {
        let (ownEnd, peerEnd) = try Socket.pair()
        server.serve(peerEnd)
        return RawClient(ownEnd)
    }

    @Test("A refused user gets the reason before sending anything, and uses no connection")
    func beforeHello() throws {
        let provider = HomeProvider(user: geteuid(), home: KeychainHome(root: "\(directory.path)/home"))
        let server = try KeychainServer(
            ClosedProvider(provider: provider), reader: CallerReader(commands: [], entitlements: nil))
        defer { server.stop() }
        let client = try Self.connected(to: server)
        let refusal = try client.receive()?.problem
        #expect(refusal == ClosedProvider.refusal)
        #expect(try client.receive() == nil)
        #expect(server.connectionCount == 0)
        #expect(!FileManager.default.fileExists(atPath: "\(directory.path)/home"))
    }

    @Test("A program gets the reason why its connection was refused, even if its hello is sent too late")
    func clientSeesReason() throws {
        let provider = HomeProvider(user: geteuid(), home: KeychainHome(root: "\(directory.path)/home"))
        let server = try KeychainServer(
            ClosedProvider(provider: provider), reader: CallerReader(commands: [], entitlements: nil))
        defer { server.stop() }
        let service = RoutedService(server)
        for _ in 0..<20 {
            let error = #expect(throws: KeychainError.self) { try service.administrator.status() }
            #expect(error == ClosedProvider.refusal)
        }
    }

    @Test(
        "The configuration file says whether subordinate users have keychains; only two values are accepted",
        arguments: [
            ("", false), ("subordinate-users = refuse", false), ("subordinate-users=allow # containers", true),
            ("max-items-per-user = 5\nsubordinate-users = allow", true), ("subordinate-users = yes", nil),
            ("subordinate-users =", nil),
            ("subordinate-users = Allow", nil), ("subordinate-users = allow\nsubordinate-users = allow", nil),
            ("subordinate-user = allow", nil),
        ] as [(String, Bool?)])
    func configuration(_ text: String, _ expected: Bool?) throws {
        let path = "\(directory.path)/daemon.conf"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        chmod(path, 0o644)
        #expect((try? DaemonConfiguration.load(from: path, owner: geteuid()))?.allowsSubordinateUsers == expected)
    }

    @Test(
        "The configuration file says whether classes that are always open are allowed; only two values are accepted",
        arguments: [
            ("", true), ("always-classes = refuse", false), ("always-classes=allow # backups", true),
            ("max-items-per-user = 5\nalways-classes = refuse", false), ("always-classes = no", nil),
            ("always-classes =", nil), ("always-classes = Refuse", nil),
            ("always-classes = refuse\nalways-classes = allow", nil), ("always-class = refuse", nil),
        ] as [(String, Bool?)])
    func alwaysClasses(_ text: String, _ expected: Bool?) throws {
        let path = "\(directory.path)/daemon.conf"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        chmod(path, 0o644)
        #expect((try? DaemonConfiguration.load(from: path, owner: geteuid()))?.allowsAlwaysOpen == expected)
    }
}
