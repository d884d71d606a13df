// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainModel
import KeychainTesting
import SecretService
import Testing

/// The service with a foreign client: secret-tool of libsecret.
@Suite(
    "secret-tool", .enabled(if: PrivateBus.isInstalled, "dbus-daemon is not installed"),
    .enabled(if: access("/usr/bin/secret-tool", X_OK) == 0, "secret-tool is not installed"))
struct SecretToolTests {
    private static func run(
        _ world: SecretWorld, _ words: String..., input: String? = nil
    ) throws -> (status: Int32, output: String) {
        let directory = try TemporaryDirectory()
        let file = "\(directory.path)/input"
        try Data((input ?? "").utf8).write(to: URL(filePath: file))
        // Standard input of a spawned process is empty.
        let process = try SpawnedProcess(
            ["/bin/sh", "-c", "exec /usr/bin/secret-tool \"$@\" < '\(file)'", "sh"] + words,
            environment: world.environment, output: "\(directory.path)/output")
        let status = process.awaitExit()
        return (status, try String(contentsOfFile: "\(directory.path)/output", encoding: .utf8))
    }

    @Test("store, lookup, search and clear")
    func commands() throws {
        let world = try SecretWorld()
        let stored = try Self.run(
            world, "store", "--label=Mail", "service", "example.com", "username", "alice", input: "s3cret")
        #expect(stored.status == 0, "\(stored.output)")
        #expect(try Self.run(world, "lookup", "username", "alice").output == "s3cret")
        #expect(try Self.run(world, "lookup", "username", "bob").status == 1)
        let found = try Self.run(world, "search", "--all", "service", "example.com").output
        #expect(found.contains("label = Mail") && found.contains("secret = s3cret"))
        #expect(try Self.run(world, "clear", "service", "example.com").status == 0)
        #expect(try Self.run(world, "lookup", "username", "alice").status == 1)
    }

    @Test("A locked item is looked up after the prompt; a dismissed prompt finds nothing")
    func locked() throws {
        let world = try SecretWorld(passcode: "1234", person: TestPerson([nil, "1234"]))
        #expect(try Self.run(world, "store", "--label=a", "a", "1", input: "s3cret").status == 0)
        try world.store.lock(.login)
        #expect(try Self.run(world, "lookup", "a", "1").status != 0)
        #expect(try Self.run(world, "lookup", "a", "1").output == "s3cret")
        #expect(world.person.questions.count == 2)
    }
}
