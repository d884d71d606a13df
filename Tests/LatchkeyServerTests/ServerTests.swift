// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainModel
import KeychainTesting
import LatchkeyOperations
import LatchkeyProtocol
@testable import LatchkeyServer
@_spi(Testing) import LatchkeyService
import LinuxSystem
import SecretMemory
import Testing

/// A server and clients that misbehave: the misbehaving client gets a clear error, and the others
/// are unaffected.
@Suite("Server")
struct ServerTests {
    /// Whether the server answers an ordinary client.
    private func serves(_ fixture: ServerFixture) throws -> Bool {
        let account = RandomBytes.hexadecimal(count: 4)
        let client = try fixture.client()
        guard case .content(is ItemRecord) = try client.ask(AddItem(Items.addition(account))) else { return false }
        return try client.ask(CopyItems(Items.query(account), returning: .data)).texts == ["v"]
    }

    @Test(
        "The response to a search for data alone has no attributes; every other has them",
        arguments: [
            (.data, false), (.attributes, true), ([.data, .attributes], true), ([.data, .persistentReference], true),
        ] as [(ReturnTypes, Bool)])
    func dataAlone(_ returning: ReturnTypes, _ hasAttributes: Bool) throws {
        let fixture = try ServerFixture()
        let client = try fixture.client()
        _ = try client.ask(AddItem(Items.addition("a")))
        guard case .content(let content) = try client.ask(CopyItems(Items.query("a"), returning: returning)),
            let record = (content as? FoundItems)?.matches.records.first
        else {
            Issue.record("nothing was found")
            return
        }
        #expect((record.attributes[.account] == .string("a")) == hasAttributes)
        #expect(record.attributes.isEmpty != hasAttributes)
        #expect((record.secrets?.data != nil) == returning.contains(.data))
    }

    // MARK: Bad input

    @Test("Random bytes end only their own connection, and the client gets the reason")
    func randomBytes() throws {
        let fixture = try ServerFixture()
        let bystander = try fixture.client()
        for _ in 0..<100 {
            let client = RawClient(try fixture.socket())
            try client.sendBytes(RandomBytes.array(count: Int.random(in: 8..<64)))
            shutdown(client.socket.descriptor, Int32(SHUT_WR))
            while let response = try client.receive() { #expect(response.problem?.status == .decode) }
        }
        #expect(try bystander.ask(ReadLockStatus()).problem == nil)
        #expect(try serves(fixture))
    }

    @Test("A frame of four gigabytes is rejected after its header")
    func announced() throws {
        let fixture = try ServerFixture()
        let client = try fixture.client()
        try client.sendBytes([0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0])
        let problem = try #require(try client.receive()?.problem)
        #expect(problem.status == .decode && problem.problem.contains("4294967295 bytes"))
        #expect(try client.receive() == nil)
        #expect(try serves(fixture))
    }

    @Test("A valid frame that is truncated at any length has no effect")
    func cutFrames() throws {
        let fixture = try ServerFixture()
        let (copy, sink) = try Socket.pair()
        try FrameChannel(copy).send(
            try NumberedRequest(number: 2, token: RandomBytes.array(count: 16), AddItem(Items.addition("cut"))).frame())
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = try bytes.withUnsafeMutableBytes { try sink.receive(into: $0) }
        for length in 0..<count {
            let client = try fixture.client()
            if length > 0 { try client.sendBytes(Array(bytes.prefix(length))) }
            shutdown(client.socket.descriptor, Int32(SHUT_WR))
            #expect(try client.receive() == nil)
        }
        #expect(
            try fixture.client().ask(CopyItems(Items.query("cut"), returning: .data)).problem?.status
                == .itemNotFound)
    }

    @Test("A hello of version 999 is rejected, and the error names both versions")
    func version() throws {
        let fixture = try ServerFixture()
        let client = RawClient(try fixture.socket())
        try client.channel.send(Frame(message: [0x52, 3, 0x08, 0xE7, 0x07]))
        let problem = try #require(try client.receive()?.problem)
        #expect(
            problem.status == .wrongSecVersion && problem.problem.contains("999")
                && problem.problem.contains("version 1"))
        #expect(try client.receive() == nil)
    }

    @Test("A first request that is not a hello is rejected; a second hello is rejected and the connection stays open")
    func hellos() throws {
        let fixture = try ServerFixture()
        let rude = RawClient(try fixture.socket())
        try rude.send(ReadStatus())
        #expect(try rude.receive()?.problem?.problem.contains("must be a hello") == true)
        let client = try fixture.client()
        #expect(try client.hello().problem?.status == .param)
        #expect(try client.ask(ReadLockStatus()).problem == nil)
        #expect(try client.ask(SendPiece([1])).problem?.status == .param)
    }

    @Test("A client of another user is refused", .enabled(if: geteuid() == 0, "needs root's socket"))
    func otherUser() throws {
        let directory = try TemporaryDirectory()
        let provider = HomeProvider(user: 12345, home: KeychainHome(root: directory.path))
        let server = try KeychainServer(provider, reader: CallerReader(commands: [], entitlements: nil))
        defer { server.stop() }
        let (ownEnd, peerEnd) = try Socket.pair()
        server.serve(peerEnd)
        #expect(try RawClient(ownEnd).hello().problem?.status == .missingEntitlement)
    }

    // MARK: Limits

    @Test("In system mode an overflow user id has no keychain", arguments: [65534, 65535, UInt32.max, 1000])
    func unknownCaller(user: UInt32) throws {
        let directory = try TemporaryDirectory()
        let provider = HomeProvider(stateDirectory: directory.path)
        defer { provider.close() }
        let hasKeychain = (try? provider.keychain(of: user)) != nil
        #expect(hasKeychain == (user == 1000))
        #expect(FileManager.default.fileExists(atPath: "\(directory.path)/users/\(user)") == hasKeychain)
    }

    @Test(
        "Of ten thousand connections the allowed number stays open; the longest idle are closed, and new clients are accepted"
    )
    func manyConnections() throws {
        let fixture = try ServerFixture(limits: ServerLimits(connectionsPerUser: 50, connectionsPerProcess: 50))
        var kept: [RawClient] = []
        for number in 0..<10_000 {
            // On a busy machine the threads of closed connections end late. With twice the allowed
            // number, including those, a new connection is refused.
            if number % 100 == 0 { #expect(eventually { fixture.server.connectionCount < 75 }) }
            let client = RawClient(try fixture.socket())
            if number % 100 == 0 { try client.hello() }
            kept.append(client)
            if kept.count > 400 { kept.removeFirst() }
        }
        #expect(eventually { fixture.server.connectionCount <= 50 })
        #expect(try serves(fixture))
    }

    @Test("If every connection is busy, the next one is refused with a reason; after one ends, it is accepted")
    func busyConnections() throws {
        let fixture = try ServerFixture(limits: ServerLimits(connectionsPerUser: 3, connectionsPerProcess: 3))
        var watchers = try (0..<3).map { _ in
            let client = try fixture.client()
            try client.send(WatchLock())
            _ = try client.receive()
            return client
        }
        let refused = RawClient(try fixture.socket())
        #expect(try refused.receive()?.problem?.problem.contains("3 connections") == true)
        watchers.removeLast()
        #expect(eventually { fixture.server.connectionCount < 3 })
        #expect(try serves(fixture))
    }

    @Test("The number of lock watchers of a user is limited")
    func manyWatchers() throws {
        let fixture = try ServerFixture(limits: ServerLimits(watchersPerUser: 2))
        var kept: [RawClient] = []
        for _ in 0..<2 {
            let client = try fixture.client()
            try client.send(WatchLock())
            guard case .content(is LockState) = try client.receive() else {
                Issue.record("the first response must be the current state")
                return
            }
            kept.append(client)
        }
        #expect(try fixture.client().ask(WatchLock()).problem?.status == .notAvailable)
        _ = kept
    }

    @Test("A watcher of changes gets a notice at the start and after the changes of others; their number is limited")
    func watchedChanges() throws {
        let fixture = try ServerFixture(limits: ServerLimits(watchersPerUser: 1))
        let (watcher, writer) = (try fixture.client(), try fixture.client())
        try watcher.send(WatchChanges())
        for number in 0..<3 {
            guard case .content(is ChangeNotice) = try watcher.receive() else {
                Issue.record("a notice must arrive")
                return
            }
            #expect(try writer.ask(AddItem(Items.addition("item-\(number)", data: "x"))).problem == nil)
        }
        #expect(try fixture.client().ask(WatchChanges()).problem?.status == .notAvailable)
        withExtendedLifetime(watcher) {}
    }

    @Test("A client that requests large results and never reads does not affect the others")
    func neverReads() throws {
        let fixture = try ServerFixture(
            limits: ServerLimits(memoryPerUser: 4 << 20, memoryPerProcess: 4 << 20, timeout: 1))
        let writer = try fixture.client()
        for number in 0..<40 {
            let item = Items.addition("big-\(number)", data: String(repeating: "x", count: 50_000))
            #expect(try writer.ask(AddItem(item)).problem == nil)
        }
        var sinks: [RawClient] = []
        for _ in 0..<6 {
            let client = try fixture.client()
            try client.send(CopyItems(Items.query(limit: .all), returning: .data))
            sinks.append(client)
        }
        // Two results stay in transfer while the clients do not read them; the other searches wait
        // for a permit until the timeout and then fail.
        #expect(eventually { fixture.server.registry.busyCount == 2 })
        #expect(
            try fixture.client().ask(CopyItems(Items.query("big-3"), returning: .data)).texts.first?.count == 50_000
        )
        // The searches that are being sent read the database, and delay no change.
        #expect(try writer.ask(AddItem(Items.addition("after", data: "x"))).problem == nil)
        let refused = try sinks.map { try $0.receive()?.problem?.status == .allocate }.count { $0 }
        #expect(refused == 4)
        #expect(try serves(fixture))
    }

    @Test("Large frames of one process wait for its reserved memory; a process without reservations gets any size")
    func budget() throws {
        let budget = MemoryBudget(ServerLimits(memoryPerUser: 100, memoryPerProcess: 60, timeout: 0))
        let (one, other) = (
            MemoryBudget.MemoryConsumer(user: 1, process: 1), MemoryBudget.MemoryConsumer(user: 1, process: 2)
        )
        var first = budget.reserve(1000, for: one)
        #expect(first != nil)
        #expect(budget.reserve(1, for: other) == nil)
        #expect(budget.reserve(1, for: MemoryBudget.MemoryConsumer(user: 2, process: 3)) != nil)
        first = nil
        _ = first
        let half = budget.reserve(50, for: one)
        #expect(half != nil)
        #expect(budget.reserve(20, for: one) == nil)
        #expect(budget.reserve(50, for: other) != nil)
    }

    @Test("Names that would fill the log, or make an item too large to send, are rejected")
    func longNames() throws {
        let fixture = try ServerFixture()
        let long = String(repeating: "x", count: 200_000)
        var query = Items.query()
        query.accessGroup = long
        #expect(try fixture.client().ask(CopyItems(query, returning: .data)).problem?.status == .decode)
        #expect(try fixture.client().ask(AddItem(Items.addition("a", group: long))).problem?.status == .decode)
        let client = RawClient(try fixture.socket())
        try client.send(Hello(claim: CallerIdentity(executable: long)))
        #expect(try client.receive()?.problem?.status == .decode)
        #expect(try serves(fixture))
    }

    @Test("The number of sessions of a user is limited, and sessions end with the connections that opened them")
    func manySessions() throws {
        let fixture = try ServerFixture(limits: ServerLimits(sessionsPerUser: 2))
        func open(_ client: RawClient) throws -> (Response?, Socket) {
            let (ownEnd, peerEnd) = try Socket.pair(preservesBoundaries: true)
            try client.send(OpenSession(nil))
            let first = try client.receive()
            guard case .content(is Ready)? = first else { return (first, ownEnd) }
            try client.socket.send(descriptor: peerEnd.descriptor)
            return (try client.receive(), ownEnd)
        }
        var clients = try (0..<2).map { _ in try fixture.client() }
        let controls = try clients.map { try open($0).1 }
        #expect(try open(try fixture.client()).0?.problem?.problem.contains("2 sessions") == true)
        // A connection that arrives through a session works.
        func connect() throws -> RawClient {
            // The other end is closed here on return: as long as it is open, the client sees no end.
            let (ownEnd, peerEnd) = try Socket.pair()
            try controls[0].send(descriptor: peerEnd.descriptor)
            return RawClient(ownEnd)
        }
        let inside = try connect()
        guard case .content(let welcome as Welcome) = try inside.hello() else {
            Issue.record("a session must answer with a welcome")
            return
        }
        #expect(welcome.mode == .session)
        clients.removeFirst()
        #expect(eventually { (try? inside.receive()) == nil })
        #expect(eventually { (try? open(try fixture.client()).0).map { $0?.problem == nil } == true })
        _ = controls
    }

    @Test("Events of the machine are applied to sessions as well")
    func sessionEventsReachSessions() throws {
        let fixture = try ServerFixture()
        let client = try fixture.client()
        let passcode = SharedSecret(copying: "a passcode".utf8)
        #expect(try client.ask(SetPasscode(passcode)).problem == nil)
        let (control, peerEnd) = try Socket.pair(preservesBoundaries: true)
        try client.send(OpenSession(passcode))
        var answer = try client.receive()
        while case .progress? = answer { answer = try client.receive() }
        try client.socket.send(descriptor: peerEnd.descriptor)
        _ = try client.receive()
        let (ownEnd, far) = try Socket.pair()
        try control.send(descriptor: far.descriptor)
        let inside = RawClient(ownEnd)
        try inside.hello()
        func state() throws -> LockState? {
            guard case .content(let status as LockStatus) = try inside.ask(ReadLockStatus()) else { return nil }
            return status.state
        }
        #expect(try state() == .unlocked)
        fixture.server.handleSessionEvent(.end)
        #expect(try state() == .locked)
    }

    @Test("A program in a sandbox can use its own items and lock; operations on the whole keychain are denied")
    func sandboxedAdministration() throws {
        let fixture = try ServerFixture()
        let sandboxed = CallerIdentity(
            executable: "/app/bin/app", sandbox: .application(group: "flatpak.org.example.App"))
        let client = try fixture.client(as: sandboxed)
        guard case .content(let record as ItemRecord) = try client.ask(AddItem(Items.addition("a"))) else {
            Issue.record("the program must find its own items")
            return
        }
        #expect(record.accessGroup.name == "flatpak.org.example.App")
        let secret = SharedSecret(copying: "a passcode".utf8)
        let refused: [any KeychainOperation] = [
            SetPasscode(secret), BackUpKeychain(under: secret, passcode: nil),
            RestoreKeychain(under: secret, passcode: nil, merges: false, dryRun: false),
            CreateRecoveryKey(nil), RecoverKeychain(with: secret, newPasscode: nil),
            ChangeSettings(KeybagSettings(), nil),
            OpenSession(nil),
            RepairKeychain(.emptyQuarantine, dryRun: false), ReadLog(after: 0, since: nil), VerifyLog(),
            UnlockKeychain(secret),
            RemovePasscode(secret),
        ]
        for request in refused {
            #expect(try fixture.client(as: sandboxed).ask(request).problem?.status == .missingEntitlement, "\(request)")
        }
        #expect(try client.ask(ReadLockStatus()).problem == nil)
    }

    @Test(
        "With attested groups, a claimed caller can neither access their items nor change their protection"
    )
    func attestedAdministration() throws {
        let directory = try TemporaryDirectory()
        let rules = try Self.entitlements(["user": "\(geteuid())"], in: directory)
        let provider = HomeProvider(user: geteuid(), home: KeychainHome(root: "\(directory.path)/home"))
        let server = try KeychainServer(
            provider, reader: CallerReader(commands: [], entitlements: EntitlementsDirectory(rules, owner: geteuid())))
        defer { server.stop() }
        let secret = SharedSecret(copying: "a passphrase that is long".utf8)
        func ask(_ request: any KeychainOperation, _ caller: CallerIdentity) throws -> OSStatusCode? {
            let (ownEnd, peerEnd) = try Socket.pair()
            server.serve(peerEnd, as: caller)
            let client = RawClient(ownEnd)
            try client.hello()
            return try client.ask(request).problem?.status
        }
        let claiming = CallerIdentity(executable: "/usr/bin/latchkey", isUserCommand: true)
        let requests: [any KeychainOperation] = [
            BackUpKeychain(under: secret, passcode: nil),
            RestoreKeychain(under: secret, passcode: nil, merges: true, dryRun: true),
            RepairKeychain(.emptyQuarantine, dryRun: false), RecoverKeychain(with: secret, newPasscode: nil),
            SetPasscode(secret), ChangePasscode(from: secret, to: secret, rotates: true), RemovePasscode(secret),
            CreateRecoveryKey(nil), RemoveRecoveryKey(nil), MoveRoot(to: .file, nil, dryRun: false),
            ResealRoot(with: secret),
            ChangeSettings(KeybagSettings(wipesAfterTen: true), nil),
            LockKeychain(immediately: true),
        ]
        for request in requests {
            #expect(try ask(request, claiming) == .missingEntitlement, "\(request)")
        }
        let attested = CallerIdentity(executable: "/usr/bin/a", attestedGroups: ["A"])
        #expect(try ask(BackUpKeychain(under: secret, passcode: nil), attested) == nil)
        #expect(try ask(SetPasscode(secret), attested) == nil)
        #expect(try ask(LockKeychain(immediately: true), attested) == nil)
        #expect(try ask(ReadLockStatus(), claiming) == nil)
        // Unlocking proves the passcode, but items of attested groups stay inaccessible.
        #expect(try ask(UnlockKeychain(secret), claiming) == nil)
        // Every refusal is in the audit log with its operation.
        let log = try #require(try provider.keychain(of: geteuid()).audit)
        var refused: Set<String> = []
        for line in try log.reading(after: 0, since: nil).nextPart(length: .max).lines
        where line.contains("\"status\":-34018") {
            refused.insert(String(line.split(separator: "\"operation\":\"").last?.prefix { $0 != "\"" } ?? ""))
        }
        #expect(
            refused == [
                "backup", "restore-rehearsal", "repair", "recover-rehearsal", "set-passcode", "change-passcode",
                "remove-passcode",
                "create-recovery-key", "remove-recovery-key", "change-settings", "move-root", "reseal-root", "lock",
            ])
    }

    @Test(
        "The server denies each operation that the policy denies, with the policy's reason",
        arguments: [
            CallerIdentity(executable: "/usr/bin/example"),
            CallerIdentity(executable: "/usr/bin/latchkey", isUserCommand: true),
            CallerIdentity(executable: "/app/bin/app", sandbox: .application(group: "flatpak.org.example.App")),
        ])
    func policy(_ caller: CallerIdentity) throws {
        let directory = try TemporaryDirectory()
        let rules = try Self.entitlements(["user": "\(geteuid())"], in: directory)
        let provider = HomeProvider(user: geteuid(), home: KeychainHome(root: "\(directory.path)/home"))
        let server = try KeychainServer(
            provider, reader: CallerReader(commands: [], entitlements: EntitlementsDirectory(rules, owner: geteuid())))
        defer { server.stop() }
        let policy = AccessPolicy(mode: .user, knowsPasscode: false)
        var denied = 0
        for operation in Samples.requests {
            let decision = policy.decision(
                on: type(of: operation).traits, by: caller, mayHoldAttestedItems: true)
            guard case .deny(let reason) = decision else { continue }
            denied += 1
            let (ownEnd, peerEnd) = try Socket.pair()
            server.serve(peerEnd, as: caller)
            let client = RawClient(ownEnd)
            try client.hello()
            let problem = try client.ask(operation).problem
            #expect(problem?.status == reason.status && problem?.problem == reason.problem, "\(type(of: operation))")
        }
        #expect(denied > 10)
    }

    @Test(
        "A rule for a unit denies administration to users that can run services, but not to users that log in",
        arguments: [(34, true), (999, true), (61200, true), (0, false), (1000, false), (61183, false)]
            as [(UInt32, Bool)])
    func unitRules(_ user: UInt32, _ canAttest: Bool) throws {
        let directory = try TemporaryDirectory()
        let unit = try Self.entitlements(["unit": "a.service"], in: directory)
        let reader = CallerReader(commands: [], entitlements: EntitlementsDirectory(unit, owner: geteuid()))
        #expect(reader.canAttest(processesOf: user) == canAttest)
        let other = try TemporaryDirectory()
        let label = try Self.entitlements(["label": "a", "label-is-confined": "yes"], in: other)
        #expect(
            CallerReader(commands: [], entitlements: EntitlementsDirectory(label, owner: geteuid())).canAttest(
                processesOf: user))
    }

    @Test("Programs of a session can lock it, even if the keychain may hold items of attested groups")
    func sessionLock() throws {
        let directory = try TemporaryDirectory()
        let rules = try Self.entitlements(["user": "\(geteuid())"], in: directory)
        let service = try EmbeddedService(inMemory: TestClock().clocks)
        try service.lock.setPasscode(SharedSecret(copying: "a passcode".utf8)) { _, _ in }
        let server = try KeychainServer(
            SessionProvider(user: geteuid(), service: service, knowsPasscode: true, home: nil),
            reader: CallerReader(commands: [], entitlements: EntitlementsDirectory(rules, owner: geteuid())))
        defer { server.stop() }
        let (ownEnd, peerEnd) = try Socket.pair()
        server.serve(peerEnd, as: CallerIdentity(executable: "/usr/bin/example"))
        let client = RawClient(ownEnd)
        try client.hello()
        #expect(try client.ask(LockKeychain(immediately: true)).problem == nil)
        #expect(try client.ask(ChangeSettings(KeybagSettings(), nil)).problem?.status == .missingEntitlement)
    }

    /// Creates an entitlements directory with one rule that grants the group A.
    private static func entitlements(_ subject: [String: String], in directory: TemporaryDirectory) throws -> String {
        let rules = "\(directory.path)/entitlements.d"
        #expect(mkdir(rules, 0o755) == 0)
        chmod(rules, 0o755)
        let words = subject.map { "<key>\($0.key)</key><string>\($0.value)</string>" }.joined()
        let list = """
            <plist version="1.0"><dict><key>latchkey-subject</key><dict>\(words)</dict>
            <key>keychain-access-groups</key><array><string>A</string></array></dict></plist>
            """
        let path = "\(rules)/a.plist"
        try list.write(toFile: path, atomically: false, encoding: .utf8)
        chmod(path, 0o644)
        return rules
    }

    @Test(
        "The user's own command can read or move other programs' secrets only in a session opened with the passcode"
    )
    func secretsAcrossGroups() throws {
        let fixture = try ServerFixture()
        let command = CallerIdentity(executable: "/usr/bin/latchkey", isUserCommand: true)
        #expect(try fixture.client().ask(AddItem(Items.addition("theirs"))).problem == nil)
        #expect(try fixture.client(as: command).ask(AddItem(Items.addition("own"))).problem == nil)
        func ask(_ request: any KeychainOperation, of server: KeychainServer? = nil) throws -> OSStatusCode? {
            let (ownEnd, peerEnd) = try Socket.pair()
            (server ?? fixture.server).serve(peerEnd, as: command)
            let client = RawClient(ownEnd)
            try client.hello()
            return try client.ask(request).problem?.status
        }
        let secret = CopyItems(Items.query("theirs"), returning: .data)
        // If no passcode is set, the command can read the secret.
        #expect(try ask(secret) == nil)
        #expect(
            try fixture.client(as: command).ask(SetPasscode(SharedSecret(copying: "a passcode".utf8))).problem == nil)
        #expect(try ask(secret) == .interactionNotAllowed)
        #expect(
            try ask(CopyItems(Items.query(limit: .all), returning: [.data, .attributes])) == .interactionNotAllowed)
        // Its own items, and attributes (they are not secret).
        #expect(try ask(CopyItems(Items.query("own"), returning: .data)) == nil)
        #expect(try ask(CopyItems(Items.query(limit: .all), returning: .attributes)) == nil)
        #expect(try fixture.client().ask(secret).problem == nil)
        // It can neither use nor export their keys.
        guard
            case .content(let key as GeneratedKey) = try fixture.client().ask(
                GenerateKey(KeyGeneration(KeyKind(.ellipticCurve, bits: 256), privateHalf: ItemAddition(.key))))
        else {
            Issue.record("no key was generated")
            return
        }
        let digest = SharedSecret(copying: [UInt8](repeating: 1, count: 32))
        guard case .content(let file as FileKey) = try fixture.client().ask(CreateFileKey(.none)) else {
            Issue.record("no key of a file was created")
            return
        }
        let uses: [any KeychainOperation] = [
            UseKey(key.privateHalf.persistentReference, .signECDSA, on: digest),
            ExportKey(key.privateHalf.persistentReference),
            OpenFileKey(file.record), RewrapFileKey(file.record),
            UseFileKey(FilePartRequest(file.record, digest, authenticated: [], seal: nil)),
        ]
        for use in uses { #expect(try fixture.client().ask(use).problem == nil) }
        // Every operation that has the trait is refused.
        #expect(try fixture.client().ask(AddIdentities([IdentityRequestTests.identity(1)])).problem == nil)
        let refused: [any KeychainOperation] =
            uses + [
                secret, UpdateItems(Items.query("theirs"), with: ItemUpdate(accessGroup: "latchkey.shared")),
                CopyIdentities(ItemQuery(.identity, synchronizable: .any), returning: .data),
                ReadStoredFile(Items.query("theirs"), at: 0, count: 0, version: nil),
            ]
        for request in refused { #expect(try ask(request) == .interactionNotAllowed, "\(request)") }
        let reading = Samples.requests.filter { type(of: $0).traits.contains(.readsSecrets) }
        #expect(Set(refused.map { "\(type(of: $0))" }) == Set(reading.map { "\(type(of: $0))" }))
        #expect(try ask(ReadPublicKey(of: key.privateHalf.persistentReference)) == nil)
        for knows in [false, true] {
            let service = try fixture.server.provider.keychain(of: geteuid()).service
            let session = try KeychainServer(
                SessionProvider(user: geteuid(), service: service, knowsPasscode: knows, home: nil),
                reader: CallerReader(commands: [], entitlements: nil))
            #expect(try ask(secret, of: session) == (knows ? nil : .interactionNotAllowed))
        }
    }

    @Test("If the log cannot be written, nothing is stored, but the keychain can still be locked and examined")
    func unwritableLog() throws {
        let fixture = try ServerFixture()
        let client = try fixture.client()
        #expect(try client.ask(AddItem(Items.addition("a"))).problem == nil)
        #expect(try client.ask(SetPasscode(SharedSecret(copying: "a passcode".utf8))).problem == nil)
        let log = try #require(try fixture.server.provider.keychain(of: geteuid()).audit)
        // A closed audit log cannot be written: the first change after that is still acknowledged,
        // and the next one is refused.
        log.close()
        #expect(try client.ask(AddItem(Items.addition("b"))).problem == nil)
        #expect(try client.ask(AddItem(Items.addition("c"))).problem?.status == .notAvailable)
        #expect(try client.ask(ReadLockStatus()).problem == nil)
        #expect(try client.ask(LockKeychain(immediately: true)).problem == nil)
    }

    // MARK: Changes with a lost response

    @Test("WIRE-11: a change that is requested twice with one token is made once and gets the same response")
    func tokens() throws {
        let fixture = try ServerFixture()
        let token = RandomBytes.array(count: 16)
        let first = try fixture.client().ask(AddItem(Items.addition("once", data: "secret")), token: token)
        let second = try fixture.client().ask(AddItem(Items.addition("once", data: "secret")), token: token)
        guard case .content(let one as ItemRecord) = first, case .content(let other as ItemRecord) = second else {
            Issue.record("both responses must be the item: \(first), \(second)")
            return
        }
        #expect(one.identifier == other.identifier && one.secrets == other.secrets && other.text == "secret")
        #expect(try fixture.client().ask(AddItem(Items.addition("once"))).problem?.status == .duplicateItem)
        let delete = RandomBytes.array(count: 16)
        for _ in 0..<2 {
            guard
                case .content(let count as ItemCount) = try fixture.client().ask(
                    DeleteItems(Items.query("once")), token: delete), count.count == 1
            else {
                Issue.record("the response must be the number of deleted items")
                return
            }
        }
    }

    @Test("The text of a recovery key is not cached for a repeated request")
    func recoveryKeyOnce() throws {
        let fixture = try ServerFixture()
        let client = try fixture.client()
        #expect(try client.ask(SetPasscode(SharedSecret(copying: "a passcode".utf8))).problem == nil)
        let token = RandomBytes.array(count: 16)
        let request = CreateRecoveryKey(SharedSecret(copying: "a passcode".utf8))
        guard case .content(is RecoveryKeyText) = try client.ask(request, token: token) else {
            Issue.record("the response must be the recovery key")
            return
        }
        #expect(try client.ask(request, token: token).problem?.status == .io)
    }

    // MARK: Stopping

    @Test("A server that stops answers arrived requests, accepts no more, and closes the keychain")
    func stopping() throws {
        let fixture = try ServerFixture()
        let clients = try (0..<8).map { _ in try fixture.client() }
        for (number, client) in clients.enumerated() { try client.send(AddItem(Items.addition("last-\(number)"))) }
        fixture.server.stop()
        var answered = 0
        for client in clients {
            if let response = try client.receive(), response.problem == nil { answered += 1 }
            #expect(try client.receive() == nil)
        }
        #expect(answered == 8)
        let again = try ServerFixture(directory: fixture.directory)
        guard
            case .content(let found as FoundItems) = try again.client().ask(
                CopyItems(Items.query(limit: .all), returning: .data))
        else {
            Issue.record("the items must be found")
            return
        }
        #expect(found.matches.records.count == 8)
    }

    @Test("A stopped server holds no key that a passcode has unlocked")
    func stoppedKeys() throws {
        let fixture = try ServerFixture()
        let client = try fixture.client()
        #expect(try client.ask(SetPasscode(SharedSecret(copying: "a passcode".utf8))).problem == nil)
        let service = try fixture.server.provider.keychain(of: geteuid()).service
        #expect(service.canOpenPasscodeItems)
        fixture.server.stop()
        #expect(!service.canOpenPasscodeItems)
    }

    @Test("A stopped server refuses new connections")
    func stopped() throws {
        let fixture = try ServerFixture()
        fixture.server.stop()
        #expect(try RawClient(try fixture.socket()).receive()?.problem?.status == .notAvailable)
    }

    // MARK: The lock

    @Test(
        "Session events lock: immediately on sleep if the settings say so, with the grace period when the screen locks"
    )
    func sessionEvents() throws {
        let fixture = try ServerFixture()
        let client = try fixture.client()
        func state() throws -> LockStatus? {
            guard case .content(let status as LockStatus) = try client.ask(ReadLockStatus()) else { return nil }
            return status
        }
        fixture.server.handleSessionEvent(.end)
        #expect(try state()?.state == .unlocked)
        let passcode = SharedSecret(copying: "a passcode".utf8)
        #expect(try client.ask(SetPasscode(passcode)).problem == nil)

        fixture.server.handleSessionEvent(.lock)
        #expect(try state()?.state == .locked)
        #expect(try state()?.open.contains(.whenUnlocked) == true)
        fixture.server.handleSessionEvent(.sleep)
        #expect(try state()?.open.contains(.whenUnlocked) == false)

        #expect(try client.ask(UnlockKeychain(passcode)).problem == nil)
        fixture.server.handleSessionEvent(.sleep)
        #expect(try state()?.state == .unlocked)
        #expect(try client.ask(ChangeSettings(KeybagSettings(locksOnSleep: true), passcode)).problem == nil)
        fixture.server.handleSessionEvent(.sleep)
        #expect(try state()?.state == .locked)
        #expect(try state()?.open.contains(.whenUnlocked) == false)

        #expect(try client.ask(UnlockKeychain(passcode)).problem == nil)
        fixture.server.handleSessionEvent(.end)
        #expect(try state()?.open.contains(.whenUnlocked) == false)
    }
    @Test("A keychain with an unreadable count of wrong passcodes is locked at once before the machine sleeps")
    func sleepWithUnreadableState() throws {
        let fixture = try ServerFixture()
        let client = try fixture.client()
        #expect(try client.ask(SetPasscode(SharedSecret(copying: "a passcode".utf8))).problem == nil)
        // A directory, because no user can read it as a file.
        let attempts = "\(fixture.directory.path)/state/passcode.attempts"
        unlink(attempts)
        #expect(mkdir(attempts, 0o700) == 0)
        #expect(try client.ask(ReadLockStatus()).problem != nil)
        fixture.server.handleSessionEvent(.sleep)
        #expect(rmdir(attempts) == 0)
        guard case .content(let status as LockStatus) = try client.ask(ReadLockStatus()) else {
            Issue.record("the state cannot be read")
            return
        }
        #expect(status.state == .locked && !status.open.contains(.whenUnlocked))
    }
}
