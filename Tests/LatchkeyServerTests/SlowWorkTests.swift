// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import KeychainModel
import KeychainTesting
import LatchkeyOperations
import LatchkeyProtocol
@testable import LatchkeyServer
import LinuxSystem
import SecretMemory
import Synchronization
import Testing

/// Slow operations run on a few threads, scheduled round-robin by user, and only while a client
/// waits for them.
@Suite("Slow operations")
struct SlowWorkTests {
    /// Work that runs until the test ends it.
    private final class BlockingWork: Sendable {
        let begun = Atomic(0)
        private let opening = DispatchSemaphore(value: 0)

        func pass() {
            begun.add(1, ordering: .sequentiallyConsistent)
            opening.awaitSignal()
        }

        func open(_ count: Int) { for _ in 0..<count { opening.signal() } }
    }

    private static func start(
        _ pool: SlowWorkPool, _ kind: SlowWork.Kind, _ user: UInt32, _ work: BlockingWork,
        isAbandoned: @escaping @Sendable () -> Bool = { false },
        then body: @escaping @Sendable (KeychainError?) -> Void = { _ in }
    ) {
        BackgroundThread.run {
            do throws(KeychainError) {
                try pool.run(kind, for: user, isAbandoned: isAbandoned) { () throws(KeychainError) in work.pass() }
                body(nil)
            } catch {
                body(error)
            }
        }
    }

    /// Waits until the given numbers of operations run and wait. Fails immediately if more are
    /// running.
    private static func reaches(_ pool: SlowWorkPool, to running: Int, waiting: Int) -> Bool {
        _ = eventually { pool.load.running > running || pool.load == (running, waiting) }
        return pool.load == (running, waiting)
    }

    @Test(
        "Waiting work starts within the share of its user and the limit of derivations",
        arguments: [
            ([(.computation, 1, 10)], [1: 2]), ([(.derivation, 1, 10)], [1: 1]),
            ([(.derivation, 1, 2), (.computation, 1, 5)], [1: 2]),
            ([(.computation, 1, 3), (.computation, 2, 3)], [1: 2, 2: 2]),
            ((1...9).map { (.derivation, $0, 2) }, [1: 1, 2: 1, 3: 1, 4: 1]),
            ((1...9).map { (.computation, $0, 3) }, [1: 2, 2: 2, 3: 2, 4: 2, 5: 2, 6: 2, 7: 2, 8: 1, 9: 1]),
        ] as [([(SlowWork.Kind, UInt32, Int)], [UInt32: Int])])
    func queue(_ work: [(kind: SlowWork.Kind, user: UInt32, count: Int)], _ expected: [UInt32: Int]) {
        var queue = SlowWorkQueue()
        for (kind, user, count) in work {
            for _ in 0..<count {
                let isOwnedByDaemon = queue.add(SlowWork(kind, user: user) {})
                #expect(isOwnedByDaemon)
            }
        }
        var begun: [UInt32: Int] = [:]
        while queue.acquireThread(ServerLimits()), let next = queue.next(ServerLimits()) {
            begun[next.user, default: 0] += 1
        }
        #expect(begun == expected)
    }

    @Test("At most two operations and one derivation of a user, and four derivations in total, run concurrently")
    func shares() throws {
        let pool = SlowWorkPool(ServerLimits())
        let work = BlockingWork()
        for _ in 0..<10 { Self.start(pool, .computation, 1, work) }
        #expect(Self.reaches(pool, to: 2, waiting: 8))
        for _ in 0..<3 { Self.start(pool, .derivation, 2, work) }
        #expect(Self.reaches(pool, to: 3, waiting: 10))
        for user in 3..<10 as Range<UInt32> { Self.start(pool, .derivation, user, work) }
        #expect(Self.reaches(pool, to: 6, waiting: 14))
        #expect(eventually { work.begun.load(ordering: .sequentiallyConsistent) == 6 })
        work.open(20)
        #expect(eventually { pool.load == (0, 0) })
        #expect(work.begun.load(ordering: .sequentiallyConsistent) == 20)
    }

    @Test(
        "An operation that releases its derivation permit counts as a computation, and the next derivation starts"
    )
    func releasedPlace() throws {
        let pool = SlowWorkPool(ServerLimits())
        let (derived, end) = (BlockingWork(), BlockingWork())
        for user in [1, 1, 1, 2, 3, 4, 5, 6] as [UInt32] {
            BackgroundThread.run {
                try? pool.run(.derivation, for: user, isAbandoned: { false }) { () throws(KeychainError) in
                    derived.pass()
                    DerivationPermit.release()
                    end.pass()
                }
            }
        }
        #expect(Self.reaches(pool, to: 4, waiting: 4))
        derived.open(1)
        #expect(Self.reaches(pool, to: 5, waiting: 3))
        derived.open(7)
        // User 1 has two running operations, and the third has to wait.
        #expect(Self.reaches(pool, to: 7, waiting: 1))
        #expect(eventually { end.begun.load(ordering: .sequentiallyConsistent) == 7 })
        end.open(8)
        #expect(eventually { pool.load == (0, 0) })
    }

    @Test("Threads are started only for work that may start, not for work that exceeds its user's share")
    func threads() throws {
        let pool = SlowWorkPool(ServerLimits())
        let work = BlockingWork()
        for _ in 0..<20 { Self.start(pool, .computation, 1, work) }
        #expect(Self.reaches(pool, to: 2, waiting: 18))
        #expect(pool.startedThreads <= 3)
        work.open(20)
        #expect(eventually { pool.load == (0, 0) })
        #expect(pool.startedThreads <= 40)
    }

    @Test("The server of a session shares the resources of its user with the server that opened it")
    func sessionsShare() throws {
        let fixture = try ServerFixture()
        let session = try KeychainServer(sessionOf: fixture.server, fixture.server.provider)
        #expect(session.shared === fixture.server.shared)
        #expect(session.limits.connectionsPerUser < fixture.server.limits.connectionsPerUser)
    }

    @Test("Users are scheduled round-robin: many requests of one user do not delay another user's")
    func turns() throws {
        var limits = ServerLimits()
        limits.slowThreads = 1
        let pool = SlowWorkPool(limits)
        let (work, first) = (BlockingWork(), BlockingWork())
        let order = Mutex<[UInt32]>([])
        Self.start(pool, .computation, 1, first)
        #expect(Self.reaches(pool, to: 1, waiting: 0))
        for (index, user) in ([1, 1, 1, 1, 2] as [UInt32]).enumerated() {
            Self.start(pool, .computation, user, work, then: { _ in order.withLock { $0.append(user) } })
            #expect(eventually { pool.load.waiting == index + 1 })
        }
        first.open(1)
        for count in 1...5 {
            work.open(1)
            #expect(eventually { order.withLock { $0.count } == count })
        }
        #expect(order.withLock { $0.firstIndex(of: 2) } == 1)
    }

    @Test("The work of an ended client never starts, or is cancelled")
    func abandoned() throws {
        var limits = ServerLimits()
        limits.slowThreads = 1
        let pool = SlowWorkPool(limits)
        let (begun, wasTold, mayEnd) = (SharedFlag(), SharedFlag(), SharedFlag())
        let isGone = SharedFlag()
        BackgroundThread.run {
            try? pool.run(.computation, for: 1, isAbandoned: { isGone.isRaised }) { () throws(KeychainError) in
                begun.raise()
                _ = eventually { Cancellation.isCancelled }
                wasTold.raise()
                _ = eventually { mayEnd.isRaised }
            }
        }
        #expect(eventually { begun.isRaised })
        let work = BlockingWork()
        work.open(3)
        let refusals = Counter()
        for _ in 0..<3 {
            Self.start(pool, .computation, 1, work, isAbandoned: { isGone.isRaised }) { error in
                if error?.status == .notAvailable { refusals.add() }
            }
        }
        #expect(Self.reaches(pool, to: 1, waiting: 3))
        isGone.raise()
        #expect(eventually { refusals.value == 3 && wasTold.isRaised })
        mayEnd.raise()
        #expect(eventually { pool.load == (0, 0) })
        #expect(work.begun.load(ordering: .sequentiallyConsistent) == 0)
    }

    @Test("A stopped pool refuses waiting and new work, and cancels running work")
    func stopped() throws {
        var limits = ServerLimits()
        limits.slowThreads = 1
        let pool = SlowWorkPool(limits)
        let isRunning = SharedFlag()
        let ended = SharedFlag()
        BackgroundThread.run {
            try? pool.run(.computation, for: 1, isAbandoned: { false }) { () throws(KeychainError) in
                isRunning.raise()
                _ = eventually { Cancellation.isCancelled }
            }
            ended.raise()
        }
        #expect(eventually { isRunning.isRaised })
        let (work, refused) = (BlockingWork(), SharedFlag())
        Self.start(pool, .computation, 2, work, then: { if $0 != nil { refused.raise() } })
        #expect(Self.reaches(pool, to: 1, waiting: 1))
        pool.stop()
        #expect(eventually { refused.isRaised && ended.isRaised })
        #expect(throws: KeychainError.self) {
            try pool.run(.computation, for: 3, isAbandoned: { false }) { () throws(KeychainError) in }
        }
    }

    // MARK: Through a connection

    private func largeKey(_ name: String) -> any KeychainOperation {
        GenerateKey(
            KeyGeneration(
                KeyKind(.rsa, bits: 8192),
                privateHalf: ItemAddition(
                    .key, attributes: [.applicationTag: .data(Array(name.utf8))], secrets: ItemSecrets())))
    }

    @Test("The generation of an RSA key ends when its client disconnects, and no key is stored")
    func clientGone() throws {
        let fixture = try ServerFixture()
        for index in 0..<6 {
            let client = try fixture.client()
            try client.send(largeKey("gone \(index)"))
            #expect(
                eventually {
                    fixture.server.shared.slowWork.load.running + fixture.server.shared.slowWork.load.waiting > 0
                })
        }
        // The clients are out of scope, and their sockets are closed.
        #expect(eventually { fixture.server.shared.slowWork.load == (0, 0) && fixture.server.registry.isEmpty })
        let query = ItemQuery(.key, synchronizable: .any, limit: .all)
        #expect(try fixture.client().ask(CopyItems(query, returning: .attributes)).problem?.status == .itemNotFound)
    }

    @Test("A server that stops does not wait for the generation of keys")
    func stopDuringGeneration() throws {
        let fixture = try ServerFixture()
        let clients = try (0..<4).map { _ in try fixture.client() }
        for (index, client) in clients.enumerated() { try client.send(largeKey("stopped \(index)")) }
        #expect(eventually { fixture.server.shared.slowWork.load == (2, 2) })
        fixture.server.stop(timeout: 0)
        #expect(eventually { fixture.server.registry.isEmpty })
    }
}

private final class Counter: Sendable {
    private let count = Atomic(0)
    var value: Int { count.load(ordering: .sequentiallyConsistent) }
    func add() { count.add(1, ordering: .sequentiallyConsistent) }
}

/// A flag that is set once.
private final class SharedFlag: Sendable {
    private let flag = Atomic(false)
    var isRaised: Bool { flag.load(ordering: .sequentiallyConsistent) }
    func raise() { flag.store(true, ordering: .sequentiallyConsistent) }
}
