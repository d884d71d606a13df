// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainModel
import KeychainSessions
import KeychainTesting
import LatchkeyClient
import LatchkeyOperations
import LatchkeyServer
import LatchkeyService
import LinuxSystem
import Presence
import SecretMemory
import Synchronization
import Testing

/// Authentication contexts and prompts of the clients of a server.
@Suite("Contexts of clients")
struct ContextServerTests {
    private static let caller = CallerIdentity(executable: "/usr/bin/example", declaredGroups: ["G1"])

    private func makeServer(_ person: ScriptedPerson) throws -> (TemporaryDirectory, KeychainServer) {
        let directory = try TemporaryDirectory()
        return (directory, try TestKeychain.server(on: directory, clock: TestClock(), person: person))
    }

    private func session(_ service: any KeychainService) -> KeychainSession {
        KeychainSession(service, as: Self.caller) { ScriptedPerson.place }
    }

    private func add(_ account: String, to session: KeychainSession) throws {
        _ = try session.add(
            ItemAddition(
                .genericPassword, attributes: [.account: .string(account), .service: .string("s")],
                secrets: ItemSecrets(data: SharedSecret(copying: [1])), accessControlFlags: .userPresence))
    }

    private func status(_ account: String, _ session: KeychainSession, _ authentication: Authentication) -> Int32 {
        let query = ItemQuery(
            .genericPassword, attributes: [.account: .string(account)], authentication: authentication)
        do throws(KeychainError) {
            _ = try session.copyMatching(query, returning: .data)
            return 0
        } catch {
            return error.authentication == .failed(.invalidContext) ? -10 : error.status.rawValue
        }
    }

    @Test("The contexts of a process end with its last connection")
    func connectionEnds() throws {
        let person = ScriptedPerson()
        let (directory, server) = try makeServer(person)
        defer { withExtendedLifetime(directory) { server.stop() } }
        let (first, second) = (RoutedService(server), RoutedService(server))
        try first.administrator.setPasscode(SharedSecret(copying: Array("the passcode".utf8))) { _, _ in }
        try add("A", to: session(first))
        person.will(.types("the passcode"))
        let context = try session(first).createContext()
        try session(first).authenticate(for: .policy(.owner), in: context, prompt: AuthenticationPrompt())
        let authentication = Authentication(.fail, context: context)
        // Another connection of the same process uses it, also when the first one has ended.
        #expect(status("A", session(second), authentication) == 0)
        first.closeConnections()
        #expect(status("A", session(second), authentication) == 0)
        second.closeConnections()
        #expect(eventually { server.connectionCount == 0 })
        let third = RoutedService(server)
        defer { third.closeConnections() }
        #expect(eventually { status("A", session(third), authentication) == -10 })
    }

    @Test("A program with the passcode asks the person in its own session, if the keychain is locked for others")
    func ownSession() throws {
        let person = ScriptedPerson()
        let (directory, server) = try makeServer(person)
        defer { withExtendedLifetime(directory) { server.stop() } }
        let administrator = RoutedService(server)
        let passcode = SharedSecret(copying: Array("the passcode".utf8))
        try administrator.administrator.setPasscode(passcode) { _, _ in }
        let program = DaemonService(
            OwnConnector(server: server), claim: { Self.caller },
            automaticPasscode: { () throws(KeychainError) in passcode })
        defer { program.close() }
        let session = session(program)
        try add("A", to: session)
        // This handle is created before the session, and is replaced in it.
        let context = AuthenticationContext { () throws(KeychainError) in session }
        let early = try context.authentication()
        try administrator.administrator.lock(immediately: true)
        person.will(.types("the passcode"), .types("the passcode"), .isAway)
        #expect(status("A", session, Authentication()) == 0)
        #expect(status("A", session, early) == 0)
        #expect(try status("A", session, context.authentication(.fail)) == 0)
        #expect(status("A", session, Authentication()) == -25308, "the person is away")
        #expect(person.questions.count == 3)
        #expect(try status("A", session, context.authentication(.fail)) == 0, "the session is still there")
        #expect(try administrator.administrator.lockStatus().state == .locked)
        administrator.closeConnections()
    }

    @Test("Twenty open prompts do not block another client")
    func openPrompts() throws {
        let person = ScriptedPerson()
        let (directory, server) = try makeServer(person)
        defer { withExtendedLifetime(directory) { server.stop() } }
        let service = RoutedService(server)
        try service.administrator.setPasscode(SharedSecret(copying: Array("the passcode".utf8))) { _, _ in }
        for index in 0..<20 { try add("item \(index)", to: session(service)) }
        _ = try session(service).add(
            ItemAddition(
                .genericPassword, attributes: [.account: .string("plain")],
                secrets: ItemSecrets(data: SharedSecret(copying: [2]))))
        // The first prompt stays open until it is released; the others wait behind it.
        let (release, answered) = (EventCount(), EventCount())
        person.will(.after({ _ = eventually { release.value > 0 } }, types: "the passcode"))
        for index in 0..<20 {
            let own = RoutedService(server)
            BackgroundThread.run {
                _ = status("item \(index)", session(own), Authentication())
                own.closeConnections()
                answered.increase()
            }
        }
        #expect(eventually { server.connectionCount >= 20 && !person.questions.isEmpty })
        for _ in 0..<100 { #expect(status("plain", session(service), Authentication()) == 0) }
        #expect(person.questions.count == 1)
        release.increase()
        #expect(eventually { answered.value == 20 })
        service.closeConnections()
    }
}

/// Connects to a server in this process, as this process.
private struct OwnConnector: DaemonConnector {
    let server: KeychainServer

    func connect() throws(KeychainError) -> Socket {
        do throws(SystemError) {
            let (mine, theirs) = try Socket.pair()
            server.serve(theirs)
            return mine
        } catch {
            throw KeychainError(error)
        }
    }
}
