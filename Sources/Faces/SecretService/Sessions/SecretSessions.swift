// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem
internal import SecretTransfer
internal import SystemBus

/// The open sessions. Each belongs to the connection that has opened it, and ends with it.
final class SecretSessions: Sendable {
    private struct Session {
        let owner: BusName
        let cipher: SessionCipher
    }

    private struct State {
        var sessions: [SessionNumber: Session] = [:]
        var next: UInt64 = 1
    }

    private let budgets: SenderBudgets
    private let state = SystemMutex(State())

    init(_ budgets: SenderBudgets) { self.budgets = budgets }

    /// - Throws: `LimitsExceeded` if the program has too many sessions.
    func open(_ cipher: SessionCipher, for owner: BusCaller) throws(BusFailure) -> SessionNumber {
        try budgets.acquire(Self.budget, by: owner)
        return state.withLock { state in
            let number = SessionNumber(state.next)
            state.next += 1
            state.sessions[number] = Session(owner: owner.connection, cipher: cipher)
            return number
        }
    }

    /// Returns the cipher of a session.
    ///
    /// - Throws: `NoSession` if it does not exist, or belongs to another program.
    func cipher(at path: ObjectPath, of sender: BusName) throws(BusFailure) -> SessionCipher {
        guard case .session(let number)? = SecretPath(path),
            let session = state.withLock({ $0.sessions[number] }), session.owner == sender
        else { throw .noSession }
        return session.cipher
    }

    func exists(_ number: SessionNumber) -> Bool { state.withLock { $0.sessions[number] != nil } }

    /// - Throws: `AccessDenied` if the session belongs to another program.
    func close(_ number: SessionNumber, by sender: BusCaller) throws(BusFailure) {
        guard let session = state.withLock({ $0.sessions[number] }) else { throw .missingObject(number.path) }
        guard session.owner == sender.connection else { throw .notTheOwner }
        state.withLock { $0.sessions[number] = nil }
        budgets.release(Self.budget, by: sender)
    }

    /// Ends the sessions of a connection that has ended.
    func endAll(of owner: BusName) {
        state.withLock { state in state.sessions = state.sessions.filter { $0.value.owner != owner } }
    }

    /// Python's secretstorage opens a session for each secret that it reads, and closes none.
    private static let budget = BudgetItem("sessions", max: 16_384)
}
