// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import Testing

/// The functions of `SecKeychain…`, and the keys of dictionaries that name keychains, in processes of
/// their own: ProofWorker runs the scenarios and prints each result that is not the expected one.
@Suite("Keychains with names", .serialized)
struct NamedKeychainTests {
    static let scenarios = ["lifecycle", "search-list", "dictionaries", "passwords", "items", "buffers", "paths"]

    @Test(
        "A program that opens its keychains itself gets the results of macOS", .long,
        arguments: scenarios + ["environment"])
    func embedded(_ scenario: String) throws {
        let home = try TemporaryDirectory()
        let outcome = try Executable.run(
            "ProofWorker", ["keychains", scenario], home: home.path + "/keychains", environment: ["HOME": home.path])
        #expect(outcome.output == "passed\n")
        #expect(outcome.status == 0, "\(outcome.error)")
    }

    @Test("A program gets the same results through latchkeyd", .long, arguments: scenarios)
    func daemon(_ scenario: String) throws {
        let daemon = try DaemonProcess()
        let outcome = try daemon.client(
            "ProofWorker", ["keychains", scenario], environment: ["HOME": daemon.directory.path])
        #expect(outcome.output == "passed\n")
        #expect(outcome.status == 0, "\(outcome.error)")
    }

    @Test("Latchkey lists, creates, uses and deletes keychains by their names", .long)
    func typed() throws {
        let home = try TemporaryDirectory()
        let daemon = try DaemonProcess()
        let embedded = try Executable.run("ProofWorker", ["typed-keychains"], home: home.path)
        #expect(embedded.output == "passed\n", "\(embedded.error)")
        let served = try daemon.client("ProofWorker", ["typed-keychains"])
        #expect(served.output == "passed\n", "\(served.error)")
    }

    @Test("The keys of files follow the lock of the user's own keychain, and changes of all keychains are seen", .long)
    func anotherDefault() throws {
        let home = try TemporaryDirectory()
        let daemon = try DaemonProcess()
        let embedded = try Executable.run("ProofWorker", ["another-default", home.path], home: home.path)
        #expect(embedded.output == "passed\n", "\(embedded.error)")
        let files = try TemporaryDirectory()
        let served = try daemon.client("ProofWorker", ["another-default", files.path])
        #expect(served.output == "passed\n", "\(served.error)")
    }
}
