// SPDX-License-Identifier: Apache-2.0

import EnrolledPrints
import Glibc
import KeychainModel
import KeychainTesting
import LinuxSystem
import Testing

@Suite("The helper that reads stored prints")
struct StoredPrintsTests {
    private static let user = geteuid()

    @Test("A process gets the digest of its own user's prints, and an empty set is another answer")
    func answers() throws {
        let name = try #require(UserAccount.name(of: Self.user))
        let store = try StoreFixture()
        let service = DigestService(store: PrintStore(store.path))
        #expect(try Self.ask { try? service.answer($0) } == nil)
        try store.write("a", to: "\(name)/driver/0/7")
        let set = try #require(try Self.ask { try? service.answer($0) })
        #expect(try set == PrintStore(store.path).enrolledSet(ofUserNamed: name))
    }

    @Test("Prints that cannot be read are a failure for the process, and not an empty set")
    func failure() throws {
        let name = try #require(UserAccount.name(of: Self.user))
        let store = try StoreFixture()
        try store.write("a", to: name)
        let service = DigestService(store: PrintStore(store.path))
        #expect(throws: EnrolledSetError.failed("the helper reports a failure")) {
            try Self.ask { try? service.answer($0) }
        }
    }

    @Test("Only a complete answer of the known version is accepted", arguments: invalidAnswers)
    func invalid(_ answer: InvalidAnswer) throws {
        #expect {
            try Self.ask { Self.send(answer.bytes, $0) }
        } throws: { error in
            if case EnrolledSetError.invalidAnswer = error { true } else { false }
        }
    }

    @Test("An answer that comes in parts is accepted; one that does not end is not awaited")
    func slow() throws {
        let answer = [1, 0] + Self.digest
        let set = try Self.ask { socket in for byte in answer { Self.send([byte], socket) } }
        #expect(set?.digest == Self.digest)
        let end = try StopSignal()
        #expect(throws: EnrolledSetError.timedOut) {
            try Self.ask(timeout: .milliseconds(100)) { socket in
                Self.send(answer, socket)
                while !end.wait(milliseconds: 1000) {}
            }
        }
        end.raise()
    }

    @Test("A helper that is not root's is refused before it answers, and another user's set is not asked for")
    func untrusted() throws {
        let directory = try TemporaryDirectory()
        let listener = try Socket(listeningAt: "\(directory.path)/socket", permissions: 0o600)
        let prints = StoredPrints(socket: "\(directory.path)/socket", trustedUser: Self.user &+ 1)
        #expect(throws: EnrolledSetError.untrustedHelper(user: Self.user)) { try prints.enrolledSet(of: Self.user) }
        #expect(throws: EnrolledSetError.otherUser(Self.user &+ 1)) { try prints.enrolledSet(of: Self.user &+ 1) }
        withExtendedLifetime(listener) {}
        let missing = StoredPrints(socket: "\(directory.path)/missing")
        #expect(throws: EnrolledSetError.self) { try missing.enrolledSet(of: Self.user) }
    }

    @Test(
        "The program answers each connection that a service manager accepts for it",
        .enabled(if: access("/usr/bin/systemd-socket-activate", X_OK) == 0, "needs systemd-socket-activate"))
    func program() throws {
        let store = try StoreFixture()
        try store.write("a", to: "\(try #require(UserAccount.name(of: Self.user)))/driver/0/7")
        let directory = try TemporaryDirectory()
        let socket = "\(directory.path)/socket"
        let manager = try SpawnedProcess(
            [
                "/usr/bin/systemd-socket-activate", "--accept", "--inetd", "--listen=\(socket)",
                Executable.path("latchkey-biometry-digest"), store.path,
            ], environment: ["PATH": "/usr/bin:/bin"], output: "\(directory.path)/log")
        let prints = StoredPrints(socket: socket, trustedUser: Self.user, timeout: .seconds(300))
        #expect(eventually { (try? Socket(connectingTo: socket)) != nil || !manager.isRunning })
        let expected = try store.digest(of: try #require(UserAccount.name(of: Self.user)))
        for _ in 1...2 { #expect(try prints.enrolledSet(of: Self.user)?.digest == expected) }
        manager.stop(signal: SIGKILL)
    }

    // MARK: A helper

    private static let digest = [UInt8](1...32)
    private static let invalidAnswers = [
        InvalidAnswer("nothing", []),
        InvalidAnswer("one byte", [1]),
        InvalidAnswer("a byte too few", [1, 0] + digest.dropLast()),
        InvalidAnswer("a byte too many", [1, 0] + digest + [0]),
        InvalidAnswer("another version", [2, 0] + digest),
        InvalidAnswer("another status", [1, 3] + digest),
        InvalidAnswer("empty with a digest", [1, 1] + digest),
        InvalidAnswer("failure with a digest", [1, 2] + digest),
        InvalidAnswer("a set without a digest", [1, 0] + zeros),
        InvalidAnswer("100,000 bytes", [UInt8](repeating: 1, count: 100_000)),
    ]
    private static let zeros = [UInt8](repeating: 0, count: 32)

    /// Asks a helper that answers one connection with `answer`.
    private static func ask(
        timeout: Duration = .seconds(300), _ answer: @escaping @Sendable (Socket) -> Void
    ) throws -> EnrolledSet? {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/socket"
        let listener = try Socket(listeningAt: path, permissions: 0o600)
        let stop = try StopSignal()
        defer { stop.raise() }
        BackgroundThread.run {
            guard let connection = try? listener.accept(until: stop) else { return }
            answer(connection)
        }
        return try StoredPrints(socket: path, trustedUser: user, timeout: timeout).enrolledSet(of: user)
    }

    private static func send(_ bytes: [UInt8], _ socket: Socket) {
        var rest = bytes[...]
        while !rest.isEmpty, let count = rest.withUnsafeBytes({ try? socket.send($0) }), count > 0 {
            rest = rest.dropFirst(count)
        }
    }
}

/// An answer that the helper never sends.
struct InvalidAnswer: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: [UInt8]

    init(_ description: String, _ bytes: [UInt8]) {
        testDescription = description
        self.bytes = bytes
    }
}
