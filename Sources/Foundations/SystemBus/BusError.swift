// SPDX-License-Identifier: Apache-2.0

public import LinuxSystem

/// A failure of the bus, or of a peer on it.
public enum BusError: Error, Hashable, Sendable {
    /// libsystemd cannot be opened, for this reason.
    case libraryMissing(String)
    /// The bus cannot be reached.
    case cannotConnect(to: String, SystemError)
    /// The connection has ended. A new ``BusConnection`` is necessary.
    case disconnected
    /// No response arrived within the timeout. The peer may still have performed the method.
    case timeout(method: String)
    /// The peer, or the bus, answered with an error.
    case remote(BusFailure)
    /// A message has other content than was expected.
    case unexpected(expected: String, found: String)
    /// A message exceeds a limit of ``BusLimits``.
    case limitExceeded(String)
    /// A value or a name cannot be sent.
    case invalid(String)
    /// Another connection owns the name.
    case nameTaken(BusName)
    /// The system refused a resource.
    case system(SystemError)
}

// MARK: CustomStringConvertible

extension BusError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .libraryMissing(let reason): "libsystemd cannot be opened: \(reason)"
        case .cannotConnect(let bus, let error): "cannot connect to \(bus): \(error.reason)"
        case .disconnected: "the connection to the bus has ended"
        case .timeout(let method): "no response to \(method) within the timeout"
        case .remote(let failure): "\(failure)"
        case .unexpected(let expected, let found): "expected \(expected) in a message of the bus, found \(found)"
        case .limitExceeded(let limit): "a message of the bus has more than \(limit)"
        case .invalid(let problem): "cannot send: \(problem)"
        case .nameTaken(let name): "another program owns the bus name \(name)"
        case .system(let error): error.description
        }
    }
}
