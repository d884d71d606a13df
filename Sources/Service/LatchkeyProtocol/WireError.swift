// SPDX-License-Identifier: Apache-2.0

public import LinuxSystem

/// Why two ends do not understand each other, or no longer hear each other.
public enum WireError: Error, Sendable {
    /// The other end sent what the protocol does not know; the words say what.
    case malformed(String)
    /// The other end speaks another version.
    case version(UInt32)
    /// The other end took or gave nothing for too long.
    case slow
    /// The other end has gone in the middle of something.
    case ended
    case system(SystemError)
}

// MARK: CustomStringConvertible

extension WireError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .malformed(let problem): "it is not what the protocol allows: \(problem)"
        case .version(let version):
            "it is of version \(version) of the protocol, known is version \(WireVersion.current)"
        case .slow: "the other side took too long"
        case .ended: "the other side ended the connection"
        case .system(let error): error.description
        }
    }
}

/// The version of the protocol that this code speaks.
public enum WireVersion {
    public static let current: UInt32 = 1
}
