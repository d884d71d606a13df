// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Glibc
import KeychainModel
import KeychainTesting
@_spi(Testing) import LatchkeyClient
@_spi(Testing) import LatchkeyService
import LinuxSystem
import SecretMemory
import Security
import Synchronization
import Testing

/// Passwords of websites, as internet passwords of the program.
@Suite("Shared web credentials")
struct SharedWebCredentialTests {
    /// Awaits the result of a call. The handlers are called on another thread, so waiting here does
    /// not block them.
    private static func answer<Value: Sendable>(_ start: (@escaping @Sendable (Value) -> Void) -> Void) -> Value? {
        let box = Mutex<Value?>(nil)
        let done = DispatchSemaphore(value: 0)
        start { value in
            box.withLock { $0 = value }
            done.signal()
        }
        done.awaitSignal()
        return box.withLock { $0 }
    }

    private static func set(_ host: String, _ account: String, _ password: String?) -> Int {
        answer { done in
            SecAddSharedWebCredential(host as CFString, account as CFString, password.map { $0 as CFString }) {
                done($0?.code ?? 0)
            }
        } ?? 1
    }

    /// The credentials as `server account password port`, or the error's code.
    private static func find(_ host: String?, _ account: String? = nil) -> [String] {
        answer { done in
            SecRequestSharedWebCredential(host.map { $0 as CFString }, account.map { $0 as CFString }) { list, error in
                guard let list = list as? [[String: Any]] else { return done(["\(error?.code ?? 1)"]) }
                done(
                    list.map { entry in
                        [kSecAttrServer, kSecAttrAccount, kSecSharedPassword, kSecAttrPort].map {
                            "\(entry[$0 as String] ?? "-")"
                        }
                        .joined(separator: " ")
                    })
            }
        } ?? []
    }

    @Test("A credential is stored, found, changed and deleted; others stay unchanged", arguments: Backend.allCases)
    func life(_ backend: Backend) throws {
        try withKeychain(backend) { _ in
            #expect(Self.find("example.com") == ["-25300"])
            #expect(Self.set("example.com", "alice", "one") == 0)
            #expect(Self.set("Example.COM:443", "bob", "two") == 0)
            #expect(Self.set("example.com:8443", "alice", "three") == 0)
            #expect(Self.set("example.org", "alice", "four") == 0)
            add(internetItem.with(["srvr": "example.com"]))
            #expect(Self.find("example.com") == ["example.com alice one -", "example.com bob two -"])
            #expect(Self.find("example.com", "bob") == ["example.com bob two -"])
            #expect(Self.find("example.com:8443") == ["example.com alice three 8443"])
            #expect(Self.find(nil).count == 4 && Self.find(nil, "alice").count == 3)
            #expect(Self.set("example.com", "alice", "new") == 0)
            #expect(Self.find("example.com", "alice") == ["example.com alice new -"])
            #expect(Self.set("example.com", "alice", nil) == 0)
            #expect(Self.set("example.com", "alice", nil) == -25300)
            #expect(Self.find("example.com") == ["example.com bob two -"])
            #expect(
                copy(item(inet, ["srvr": "example.com", "ptcl": "htps", "acct": "bob"]).with(.returnData)).text == "two"
            )
            #expect(copy(internetKey.with(["srvr": "example.com"])).status == errSecSuccess)
        }
    }

    @Test("A credential that another process adds during the call is replaced")
    func concurrent() throws {
        let directory = try TemporaryDirectory()
        let home = KeychainHome(root: directory.path)
        let caller = CallerIdentity(executable: "/usr/bin/example", declaredGroups: ["G1"])
        let other = try EmbeddedService(home: home, clocks: TestClock().clocks)
        defer { other.close() }
        let attributes: [ItemAttribute: AttributeValue] = [
            .server: .string("example.com"), .account: .string("alice"), .port: .number(0), .protocol: .string("htps"),
            .authenticationType: .string("form"),
        ]
        let calls = Atomic(0)
        // The service reads the clock before each transaction: an update that finds nothing, and a store.
        let clocks = Clocks(
            wall: {
                guard calls.add(1, ordering: .sequentiallyConsistent).newValue == 2 else { return 0 }
                let theirs = ItemSecrets(data: SharedSecret(copying: "theirs".utf8))
                _ = try? other.items.add(
                    ItemAddition(.internetPassword, attributes: attributes, secrets: theirs), from: caller)
                return 0
            }, boot: .system, passcodeExponent: 10)
        let service = try EmbeddedService(home: home, clocks: clocks)
        defer { service.close() }
        calls.store(0, ordering: .sequentiallyConsistent)
        CallerContext.$current.withValue(CallerContext(identity: caller, service: service)) {
            #expect(Self.set("example.com", "alice", "mine") == errSecSuccess)
            #expect(calls.load(ordering: .sequentiallyConsistent) == 3)
            #expect(Self.find("example.com") == ["example.com alice mine -"])
        }
    }

    @Test("An invalid host, account or port is refused, and the handler is called")
    func refused() throws {
        try withKeychain(.ephemeral) { _ in
            for host in [
                "", ":", ":443", "example.com:", "example.com:0", "example.com:65536", "example.com:x",
                "example.com:+1", "example.com:1:2",
                "https://example.com", "a b",
            ] {
                #expect(Self.set(host, "alice", "x") == -50, "\(host)")
                #expect(Self.find(host) == ["-50"], "\(host)")
            }
            #expect(Self.set("example.com", "", "x") == -50)
        }
        try withKeychain(.ephemeral, groups: []) { _ in
            #expect(Self.set("example.com", "alice", "x") == -34018)
            #expect(Self.find("example.com") == ["-34018"])
        }
    }

    @Test("Handlers are not called on the caller's thread")
    func background() throws {
        try withKeychain(.ephemeral) { _ in
            let here = pthread_self()
            let isElsewhere = Self.answer { done in
                SecRequestSharedWebCredential(nil, nil) { _, _ in done(pthread_self() != here) }
            }
            #expect(isElsewhere == true)
        }
    }

    @Test("A new password has four groups of three characters, with both cases and digits, and differs each time")
    func passwords() throws {
        var seen: Set<String> = []
        for _ in 0..<200 {
            let password = try #require(SecCreateSharedWebCredentialPassword()) as String
            #expect(
                password.wholeMatch(of: /([A-HJ-NP-Za-hkmn-z2-9]{3}-){3}[A-HJ-NP-Za-hkmn-z2-9]{3}/) != nil,
                "\(password)")
            #expect(password.contains(/[A-Z]/) && password.contains(/[a-z]/) && password.contains(/[0-9]/))
            seen.insert(password)
        }
        #expect(seen.count == 200)
    }
}
