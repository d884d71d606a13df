// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem

/// Why a conversation with pinentry ended without an answer.
enum PinentryError: Error, Hashable {
    /// It answered a command with an error. The text is its own.
    case refused(AssuanErrorCode, text: String)
    /// It did not follow the protocol; the text says how.
    case unexpected(String)
    /// It could not be started, or its pipes failed.
    case system(SystemError)

    /// The outcome of the question.
    ///
    /// - Parameter program: the path of the program.
    func outcome(of program: String) -> PresenceOutcome {
        switch self {
        case .refused(.cancelled, _), .refused(.fullyCancelled, _): .cancelled
        case .refused(.notConfirmed, _): .denied
        case .refused(.timeout, _): .timedOut
        case .refused(let code, let text):
            .unavailable(.programFailed(path: program, reason: "error \(code.value) (\(text))"))
        case .unexpected(let reason): .unavailable(.programFailed(path: program, reason: reason))
        case .system(let error) where error.code == ECANCELED: .cancelled
        case .system(let error) where error.code == ETIMEDOUT: .timedOut
        case .system(let error): .unavailable(.programFailed(path: program, reason: error.description))
        }
    }
}
