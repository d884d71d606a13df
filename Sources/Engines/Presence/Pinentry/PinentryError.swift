// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem

/// Why a conversation with pinentry ended without an answer.
enum PinentryError: Error, Hashable {
    /// It answered a command with an error. The text is its own.
    case refused(AssuanErrorCode, text: String)
    /// It ended, or closed its output, before it had answered.
    case ended
    /// It did not follow the protocol; the text says how.
    case unexpected(String)
    /// It could not be started, or its pipes failed.
    case system(SystemError)

    /// Whether the question was not displayed, so that another program may display it.
    var isBeforeDisplay: Bool {
        switch self {
        case .refused(let code, _): !AssuanErrorCode.answers.contains(code)
        case .ended, .unexpected, .system: false
        }
    }

    /// The outcome of the question.
    ///
    /// - Parameters:
    ///   - program: the path of the program.
    ///   - isForeground: whether Ctrl-C on the terminal ends the program.
    func outcome(of program: String, isForeground: Bool) -> PresenceOutcome {
        switch self {
        case .ended where isForeground: .cancelled
        case .ended: .unavailable(.programFailed(path: program, reason: "it ended before it had answered"))
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
