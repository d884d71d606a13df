// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainSessions
import KeychainTesting
@testable import LatchkeyClient
import LatchkeyOperations
@testable import LatchkeyServer
import LatchkeyService
import LinuxSystem
import SecretMemory
import Testing

/// The collections of the Secret Service through a daemon that identifies the program itself.
@Suite("Collections through the daemon")
struct CollectionServerTests {
    /// A connector for this process. Its executable declares no identity.
    private struct ThisProcess: DaemonConnector {
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

    @Test("SECS-10: a program that the daemon knows by its executable has the collections, with any claim")
    func ownProcess() throws {
        let fixture = try ServerFixture()
        let claimed = CallerIdentity(executable: "/usr/bin/example", declaredGroups: ["com.example.app"])
        let service = DaemonService(ThisProcess(server: fixture.server)) { claimed }
        defer { service.close() }
        let session = KeychainSession(service, as: claimed)
        let collections = KeychainCollections(session)
        let work = try collections.create(label: "Work").name
        let map = try LookupAttributes([("username", "alice")])
        for name in [CollectionName.login, work] {
            _ = try session.add(
                ItemAddition(
                    map, label: "l", data: SharedSecret(copying: name.text.utf8), contentType: nil, replaces: true,
                    accessGroup: name.accessGroup.name))
        }
        var query = ItemQuery(nil, synchronizable: .any, limit: .all)
        query.accessGroups = [CollectionName.login, work].map(\.accessGroup.name)
        query.lookupAttributes = map
        let found = try session.copyMatching(query, returning: .data).records
        #expect(found.map(\.accessGroup) == [.shared, work.accessGroup] && found.map(\.text) == ["login", "Work"])
        // Claimed groups do not count: the process has no group of another program.
        query.accessGroups.append("com.example.app")
        let error = #expect(throws: KeychainError.self) { try session.copyMatching(query, returning: .data) }
        #expect(error?.status == .missingEntitlement)
        #expect(try collections.delete(work) == 1 && collections.passwordCount(in: .login) == 1)
    }
}
