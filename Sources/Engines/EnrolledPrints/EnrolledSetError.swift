// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import LinuxSystem

/// Why the enrolled set is not known.
public enum EnrolledSetError: Error, Hashable, Sendable {
    /// latchkey-biometry-digest does not listen.
    case noHelper(SystemError)
    /// The socket belongs to a process of this user instead of root.
    case untrustedHelper(user: UInt32)
    /// The answer has another form; the text describes it.
    case invalidAnswer(String)
    /// No complete answer came within the timeout.
    case timedOut
    /// The helper, or this process, cannot read the prints; the text says why.
    case failed(String)
    /// Another user's set. Only that user's processes can learn it.
    case otherUser(UInt32)

    /// Whether latchkey-biometry-digest has never listened since the machine started, so that it does not seem to be
    /// installed. A socket without its former listener is another failure.
    public var isNotInstalled: Bool {
        if case .noHelper(let error) = self { error.code == ENOENT } else { false }
    }
}

// MARK: CustomStringConvertible

extension EnrolledSetError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noHelper(let error): error.description
        case .untrustedHelper(let user): "expected latchkey-biometry-digest to run as root, found user \(user)"
        case .invalidAnswer(let problem): "latchkey-biometry-digest answered with \(problem)"
        case .timedOut: "latchkey-biometry-digest did not answer in time"
        case .failed(let reason): "the enrolled fingers cannot be read: \(reason)"
        case .otherUser(let user): "only a process of user \(user) can ask for that user's enrolled fingers"
        }
    }

    /// The command or the advice for the user.
    public var hint: String {
        switch self {
        case .noHelper: "sudo systemctl enable --now latchkey-biometry-digest.socket"
        case .untrustedHelper: "ls -l \(StoredPrints.defaultSocket)"
        case .invalidAnswer, .timedOut, .failed: "journalctl -u 'latchkey-biometry-digest@*'"
        case .otherUser: "use the keychain as its own user"
        }
    }
}
