// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
import Latchkey
@_spi(Testing) import LatchkeyClient
import LatchkeyService
import Testing

/// Changes by other processes, as `Keychain.changes()` reports them.
@Suite("Changes by other processes")
struct ChangeProcessTests {
    private let alice = GenericPassword(service: "example.com", account: "alice")

    @Test("A change by another process is announced, and can be read")
    func embedded() async throws {
        let directory = try TemporaryDirectory()
        let service = try EmbeddedService(home: KeychainHome(root: directory.path))
        let identity = CallerIdentity(executable: "/usr/bin/example", declaredGroups: ["latchkey.shared"])
        let context = CallerContext(identity: identity, service: service)
        try await CallerContext.$current.withValue(context) {
            var changes = try Keychain.default.changes().makeAsyncIterator()
            for password in ["one", "two"] {
                let outcome = try Executable.run(
                    "latchkey", ["add-generic-password", "-s", "example.com", "-a", "alice", "-w", password, "-U"],
                    home: directory.path, environment: ["XDG_RUNTIME_DIR": directory.path])
                #expect(outcome.status == 0, "\(outcome)")
                #expect(await changes.next() != nil)
                #expect(try Keychain.default.string(for: alice) == password)
            }
        }
        service.close()
    }
}
