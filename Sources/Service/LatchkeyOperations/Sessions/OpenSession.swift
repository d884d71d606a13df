// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService
package import SecretMemory

/// Opens the keychain a second time, unlocks it, and serves it to the processes that hold the other
/// end of the socket that the client sends after the daemon has answered that it is ready.
package struct OpenSession: KeychainOperation {
    /// nil for a keychain without a passcode.
    package let passcode: SharedSecret?

    package init(_ passcode: SharedSecret?) { self.passcode = passcode }

    package static let traits: OperationTraits = .administers

    package var audit: AuditDetails? { AuditDetails("open-session", includesPasscode: passcode != nil) }

    package func run(in context: some OperationContext) throws(KeychainError) -> Done {
        // The permit is acquired before the work, and released when the work fails or the session
        // ends.
        guard let permit = context.acquire(.session) else {
            throw KeychainError(
                .notAvailable, "this user has \(context.limit(of: .session)) sessions, the maximum",
                hint: "end one of them")
        }
        let service = try context.reopen()
        do throws(KeychainError) {
            if let passcode {
                let progress = context.progress
                try context.slow(.derivation) { () throws(KeychainError) in
                    try service.lock.unlock(passcode, progress: progress)
                }
            }
            guard context.send(Ready()) else {
                throw KeychainError(.io, "the client disconnected before its session began")
            }
            try context.startSession(service, knowsPasscode: passcode != nil, permit: permit)
            return Done()
        } catch {
            service.close()
            throw error
        }
    }
}

// MARK: Coding

extension OpenSession {
    init(_ wire: WireOpenSession, _ secrets: inout SecretTable) throws(WireError) {
        try requireKnown(wire)
        passcode = wire.hasPasscode ? try secrets.take(wire.passcode) : nil
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        var wire = WireOpenSession()
        if let passcode { wire.passcode = secrets.append(passcode) }
        return .openSession(wire)
    }
}
