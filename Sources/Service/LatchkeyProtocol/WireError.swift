// SPDX-License-Identifier: Apache-2.0

public import LinuxSystem

/// An error of the connection or of the protocol.
public enum WireError: Error, Sendable {
    /// The other end sent data that the protocol does not allow; the text describes it.
    case malformed(String)
    /// The other end uses another protocol version.
    case version(UInt32)
    /// The other end neither sent nor received anything within the timeout.
    case slow
    /// The other end closed the connection during a frame.
    case ended
    case system(SystemError)
}

// MARK: CustomStringConvertible

extension WireError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .malformed(let problem): "not allowed by the protocol: \(problem)"
        case .version(let version):
            "unsupported protocol version \(version), expected version \(WireVersion.current)"
        case .slow: "the other side took too long"
        case .ended: "the other side ended the connection"
        case .system(let error): error.description
        }
    }
}

/// The protocol version that this code implements.
public enum WireVersion {
    public static let current: UInt32 = 1
}
