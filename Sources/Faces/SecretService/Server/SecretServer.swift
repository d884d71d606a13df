// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import LinuxSystem
public import Logging
public import SystemBus

/// The Secret Service of freedesktop.org on one bus, over a store.
///
/// The methods of one process are answered one after the other, and those of several in turn (``FairCalls``), unless
/// nothing else waits and the answer is short. Methods that wait for a person or derive keys have threads of their own.
public final class SecretServer: Sendable {
    let bus: BusConnection
    let store: any SecretStore
    let askers: [SecretAsker]
    let log: Logger
    let budgets = SenderBudgets(SecretLimits.rate)
    let questions = SharedQuestions()
    let sessions: SecretSessions
    let prompts: SecretPrompts
    let signals: SecretSignals
    let consent: ReadingConsent
    let known = KnownItems()
    private let portal: PortalSecrets?
    private let running = SystemMutex(Running())
    /// The collections that clients know.
    private let announced = SystemMutex<[CollectionName]>([])
    /// The programs as they were at the first call of each connection.
    private let programs = SystemMutex<[BusName: CallerIdentity]>([:])

    /// The objects that exist as long as the service runs.
    private struct Running {
        var calls: FairCalls?
        var registrations: [BusRegistration] = []
        var observation: (any Sendable)?
    }

    /// - Parameters:
    ///   - bus: a connection with ``SecretLimits/bus``.
    ///   - applications: the secrets that the portal gives to applications; nil for no portal.
    ///   - consents: whether the person is asked before a program reads an item; nil for never.
    public init(
        on bus: BusConnection, store: any SecretStore, applications: (any ApplicationSecretStore)? = nil,
        consents: (any ConsentStore)? = nil, askers: [SecretAsker], log: Logger
    ) {
        self.bus = bus
        self.store = store
        self.askers = askers
        self.log = log
        consent = ReadingConsent(store, consents)
        sessions = SecretSessions(budgets)
        signals = SecretSignals(bus: bus, log: log)
        prompts = SecretPrompts(budgets, signals, questions)
        if let applications {
            portal = PortalSecrets(store: store, applications: applications, askers: askers, questions, log)
        } else {
            portal = nil
        }
    }

    /// Exports the objects, and then takes the names.
    ///
    /// - Parameters:
    ///   - replacing: whether the name is taken from a service that allows it.
    ///   - onLost: called when another service has taken the name.
    /// - Throws: ``BusError/nameTaken(_:)``.
    public func start(replacing: Bool, onLost: @escaping @Sendable () -> Void) throws(BusError) {
        guard let calls = FairCalls() else {
            throw .system(SystemError("start a thread for calls", code: EAGAIN))
        }
        running.withLock { $0.calls = calls }
        try keep(
            bus.observeEnds { [weak self] name in calls.end(name) { [weak self] in self?.forget(name) } })
        let objects = try bus.export(at: SecretPath.root, holdsSecrets: true, blocks: false) { [weak self] call in
            self?.receive(call, calls)
        }
        keep(objects)
        if let portal {
            let exported = try bus.export(at: PortalSecrets.path, blocks: false) { [weak self] call in
                calls.add(for: call.caller) { [weak self] in
                    self?.receive(call, for: portal)
                    return nil
                }
            }
            keep(exported)
        }
        observe()
        try keep(bus.own(Self.name, replacing: replacing, allowsReplacement: true, onLost: onLost))
        guard portal != nil else { return }
        do throws(BusError) {
            try keep(bus.own(PortalSecrets.name, replacing: replacing, allowsReplacement: true))
        } catch .nameTaken {
            log.warning("another program answers for the portal", metadata: ["name": "\(PortalSecrets.name)"])
        } catch {
            throw error
        }
    }

    /// Ends the service: releases the names, and then the objects.
    public func stop() {
        let ended = running.withLock { running in
            defer { running = Running() }
            return running
        }
        ended.calls?.end()
        withExtendedLifetime(ended) {}
    }

    deinit { stop() }

    public static let name: BusName = "org.freedesktop.secrets"

    private func keep(_ registration: BusRegistration) {
        running.withLock { $0.registrations.append(registration) }
    }

    // MARK: Programs

    /// Returns the program at the other end of a connection, for words, the log and questions: at most a claim. A
    /// program that it executes later changes nothing.
    func caller(_ sender: BusName) -> CallerIdentity {
        programs.withLock { $0[sender] } ?? remember(BusCaller(sender, try? bus.peer(sender)))
    }

    @discardableResult
    func remember(_ caller: BusCaller) -> CallerIdentity {
        if let known = programs.withLock({ $0[caller.connection] }) { return known }
        guard let peer = caller.peer, let process = peer.process else {
            return CallerIdentity(executable: Self.unknownProgram)
        }
        let program = CallerIdentity(
            executable: ProcessDirectory(process).executable ?? Self.unknownProgram,
            process: CallerIdentity.ProcessIdentity(user: peer.user, process: process))
        programs.withLock { programs in
            // The end of a connection that was reported before would leave its program here.
            if programs.count >= Self.maxPrograms { programs = [:] }
            programs[caller.connection] = program
        }
        return program
    }

    private func receive(_ call: BusMethodCall, for portal: PortalSecrets) {
        do throws(BusFailure) {
            try admit(call)
            try portal.receive(call, program: caller(call.sender))
        } catch {
            call.fail(error)
        }
    }

    func reader(_ sender: BusName) -> SecretReader { SecretReader(connection: sender, program: caller(sender)) }

    private static let unknownProgram = "a program of unknown name"
    private static let maxPrograms = 4096

    /// - Throws: `AccessDenied` for a program of another user.
    func requireSameUser(_ caller: BusCaller) throws(BusFailure) {
        guard caller.peer?.user == geteuid() else {
            throw .accessDenied("The keychain belongs to another user")
        }
    }

    private func forget(_ name: BusName) {
        sessions.endAll(of: name)
        prompts.endAll(of: name)
        portal?.endAll(of: name)
        consent.endAll(of: name)
        budgets.forget(name)
        programs.withLock { $0[name] = nil }
    }

    // MARK: Changes

    private func observe() {
        let present = (try? store.collections())?.map(\.name) ?? []
        announced.withLock { $0 = present }
        let announcer = ChangeAnnouncer { [weak self] changes in self?.announce(changes) }
        BackgroundThread.run { [weak self] in
            for name in present { _ = self?.announcedItems(of: name, haveChanged: false) }
        }
        do throws(SecretStoreError) {
            let observation = try store.observe { [consent] change in
                consent.invalidate()
                announcer.add(change)
            }
            running.withLock { $0.observation = observation }
            consent.startKeepingRules()
        } catch {
            log.warning("changes by other programs are not announced", metadata: ["reason": "\(error)"])
        }
    }

    private func announce(_ changes: Set<SecretStoreChange>) {
        if changes.contains(.contents) { announceCollections() }
        guard let collections = try? store.collections() else { return }
        for collection in collections {
            let domain = try? store.lockDomain(of: collection.name)
            // Locked items do not change.
            let haveChanged = changes.contains(.contents) && !collection.isLocked
            let items = announcedItems(of: collection.name, haveChanged: haveChanged)
            if domain.map({ changes.contains(.lock($0)) }) == true {
                signals.collectionChanged(collection)
                // Programs that show items, such as Seahorse, read their labels again.
                for item in items ?? [] {
                    signals.itemChanged(item.reference, item.properties(isLocked: item.isLocked))
                }
            }
            if changes.contains(.contents) {
                signals.collectionChanged(collection.name)
                if let items { signals.itemsChanged(collection.name, items.map(\.reference.path)) }
            }
        }
    }

    /// Returns the items of a collection; nil if there are more than a program shows. Programs with
    /// more items read them again when they are told that the collection has changed.
    ///
    /// - Parameter haveChanged: whether any item may have changed.
    private func announcedItems(of name: CollectionName, haveChanged: Bool) -> [SecretItem]? {
        guard let items = try? store.items(in: name, limit: SecretLimits.maxAnnouncedItems + 1) else { return nil }
        guard items.count <= SecretLimits.maxAnnouncedItems else {
            guard haveChanged else {
                known.remember(items)
                return nil
            }
            // One that is locked meanwhile stays as it was known.
            for item in known.renew(name, items, isWhole: false) { _ = try? self.item(item) }
            return nil
        }
        known.renew(name, items)
        return items.map(known.completed)
    }
}

extension SecretServer {
    /// Announces the collections that were created and deleted since the last time, by a client or by another program.
    func announceCollections() {
        let change = announced.withLock { announced -> (created: [CollectionName], deleted: [CollectionName])? in
            // Read under the lock: an older list would announce an outdated state.
            guard let present = (try? store.collections())?.map(\.name) else { return nil }
            let known = announced
            announced = present
            return (
                created: present.filter { !known.contains($0) }, deleted: known.filter { !present.contains($0) }
            )
        }
        guard let change else { return }
        let all = announced.withLock { $0 }
        for name in change.created { signals.collectionCreated(name, all: all) }
        for name in change.deleted {
            known.forget(name)
            signals.collectionDeleted(name, all: all)
        }
    }
}

/// The limits of the service.
public enum SecretLimits {
    /// For the connection of the service: a secret may have 4 MiB, and each process a share of the whole.
    public static var bus: BusLimits {
        var limits = BusLimits()
        (limits.maxUnansweredCalls, limits.maxUnansweredBytes) = (8192, 192 << 20)
        (limits.maxUnansweredCallsPerUser, limits.maxUnansweredBytesPerUser) = (8192, 192 << 20)
        limits.unansweredShare = (calls: 4096, bytes: 64 << 20)
        (limits.maxQueuedEvents, limits.maxQueuedBytes) = (16_384, 256 << 20)
        // A search may find every item of a keychain.
        (limits.maxSentBytes, limits.maxSentValues) = (maxAnswerLength + (1 << 20), 1 << 20)
        // Less than the limits of every dbus-daemon; the smallest of them is 127 MiB.
        (limits.maxUnreadBytesPerConnection, limits.maxUnreadBytes) = (48 << 20, 64 << 20)
        return limits
    }

    /// The calls of one process: more than a program needs that does nothing else.
    static let rate = SenderBudgets.Rate(burst: 50_000, perSecond: 25_000)

    /// The longest type of a content, in bytes.
    static let maxContentTypeLength = 255
    /// The items that a collection may have if its list and their lock are announced.
    static let maxAnnouncedItems = 1024
    /// The paths of a call that is answered in one turn.
    static let maxPathsAtOnce = 16
    /// The paths in one call.
    static let maxPaths = 65_536
    /// The secrets in one answer, in bytes. A dbus-daemon without limits in its configuration disconnects the
    /// sender of a message of more than 32 MiB.
    static let maxAnswerLength = 30 << 20
}
