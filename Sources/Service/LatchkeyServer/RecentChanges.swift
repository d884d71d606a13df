// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import LatchkeyProtocol
internal import LinuxSystem
internal import Synchronization

/// What became of the changes of the last minute, by their tokens: a client that has lost the answer asks once more, and nothing is done twice.
///
/// No secret is kept here. An item that was added is answered with the secrets of the repeated request, which are the same; the text of a
/// recovery key cannot be repeated.
final class RecentChanges: Sendable {
    struct Token: Hashable {
        var user: UInt32
        var bytes: [UInt8]
    }

    private enum Outcome {
        case running
        case ended(Response, at: UInt64)
    }

    private let state = Mutex<[Token: Outcome]>([:])

    /// Makes the change, unless it was made already; then its answer is given again.
    func perform(_ token: Token, _ request: Request, _ body: () -> Response) -> Response {
        while true {
            let known = state.withLock { outcomes -> Outcome? in
                if let outcome = outcomes[token] { return outcome }
                Self.forget(&outcomes)
                outcomes[token] = .running
                return nil
            }
            switch known {
            case nil:
                let response = body()
                state.withLock { $0[token] = .ended(Self.withoutSecrets(response), at: BootClock.system.now()) }
                return response
            case .ended(let response, _)?: return Self.repeated(response, of: request)
            // The first attempt is still at work.
            case .running?: usleep(5000)
            }
        }
    }

    private static func forget(_ outcomes: inout [Token: Outcome]) {
        let now = BootClock.system.now()
        guard outcomes.count >= greatestCount else { return }
        outcomes = outcomes.filter { _, outcome in
            guard case .ended(_, let time) = outcome else { return true }
            return now - time < lifetime
        }
        while outcomes.count >= greatestCount, let oldest = oldest(outcomes) { outcomes[oldest] = nil }
    }

    private static func oldest(_ outcomes: [Token: Outcome]) -> Token? {
        outcomes.compactMap { token, outcome -> (Token, UInt64)? in
            guard case .ended(_, let time) = outcome else { return nil }
            return (token, time)
        }.min { $0.1 < $1.1 }?.0
    }

    private static func withoutSecrets(_ response: Response) -> Response {
        switch response {
        case .record(var record):
            record.secrets = nil
            return .record(record)
        case .secret:
            return .failure(
                KeychainError(
                    .io, "the recovery key was made, but its text was lost with the connection",
                    hint: "make another one, which replaces it: latchkey recovery-key create"))
        default: return response
        }
    }

    private static func repeated(_ response: Response, of request: Request) -> Response {
        guard case .record(var record) = response, case .add(let item) = request else { return response }
        record.secrets = item.secrets
        return .record(record)
    }

    /// One minute, in nanoseconds.
    private static let lifetime: UInt64 = 60_000_000_000
    private static let greatestCount = 4096
}
