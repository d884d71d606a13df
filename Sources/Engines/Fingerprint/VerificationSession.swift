// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// The verifications of one person on a claimed reader.
struct VerificationSession {
    let service: FingerprintService
    let mailbox: VerificationMailbox
    /// By `BootClock.system`, in nanoseconds.
    let deadline: UInt64
    let cancellation: Cancellation

    /// The result of one scan.
    enum Scan: Hashable, Sendable {
        /// An enrolled finger of the user was recognized.
        case match
        /// A finger was read, and it is not an enrolled one.
        case noMatch
        /// No finger was recognized before the deadline.
        case timedOut
        /// The cancellation was requested.
        case cancelled
    }

    /// Reads one finger. The verification is stopped before the function returns.
    func scan(_ onEvent: (FingerprintEvent) -> Void) throws(FingerprintError) -> Scan {
        for _ in 0..<Self.maxProblems {
            if let ended = endedByCaller() { return ended }
            mailbox.clear()
            try service.startVerification()
            defer { try? service.stopVerification() }
            onEvent(.waiting)
            if let scan = try result(onEvent) { return scan }
        }
        throw .failed("\(Self.maxProblems) scans could not be used")
    }

    /// The result of a started verification; nil if it ended without one and must be started again.
    private func result(_ onEvent: (FingerprintEvent) -> Void) throws(FingerprintError) -> Scan? {
        for _ in 0..<Self.maxProblems {
            guard let status = try mailbox.next(until: deadline, cancellation) else {
                return endedByCaller() ?? .timedOut
            }
            switch status {
            case .match: return .match
            case .noMatch: return .noMatch
            case .disconnected: throw .disconnected
            case .readerError: throw .failed("fprintd reports an unknown error")
            case .retry(let problem, let isLast):
                onEvent(.problem(problem))
                if isLast { return nil }
            }
        }
        throw .failed("\(Self.maxProblems) scans could not be used")
    }

    private func endedByCaller() -> Scan? {
        if cancellation.isCancelled { return .cancelled }
        return BootClock.system.now() < deadline ? nil : .timedOut
    }

    /// More than a person causes; a service that reports problems without end is stopped.
    private static let maxProblems = 100
}
