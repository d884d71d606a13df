// SPDX-License-Identifier: Apache-2.0

internal import CSystemd
internal import LinuxSystem

/// Where a bus listens.
public enum BusAddress: Hashable, Sendable {
    /// The bus of the machine: `DBUS_SYSTEM_BUS_ADDRESS`, or its usual socket.
    case system
    /// The bus of the user: `DBUS_SESSION_BUS_ADDRESS`, or `$XDG_RUNTIME_DIR/bus`.
    case session
    /// An address in the syntax of D-Bus, for example `unix:path=/run/dbus/system_bus_socket`.
    case custom(String)

    /// The path of the bus's socket; nil if the address names none, or more than a path.
    public var socketPath: String? {
        let address =
            switch self {
            case .system: SecureEnvironment.value(of: "DBUS_SYSTEM_BUS_ADDRESS") ?? Self.systemAddress
            case .session: SecureEnvironment.value(of: "DBUS_SESSION_BUS_ADDRESS") ?? ""
            case .custom(let address): address
            }
        guard address.hasPrefix(Self.pathPrefix) else { return nil }
        let path = address.dropFirst(Self.pathPrefix.count)
        return path.hasPrefix("/") && !path.contains { ",;%".contains($0) } ? String(path) : nil
    }

    private static let pathPrefix = "unix:path="
    /// The address without a variable, as libsystemd has it.
    private static let systemAddress = "unix:path=/run/dbus/system_bus_socket"

    /// Starts to connect; returns 0, or a negative `errno`.
    func open(_ bus: inout OpaquePointer?) -> Int32 {
        switch self {
        case .system: return sd_bus_open_system_with_description(&bus, "latchkey")
        case .session: return sd_bus_open_user_with_description(&bus, "latchkey")
        case .custom(let address):
            let status = sd_bus_new(&bus)
            guard status >= 0 else { return status }
            for status in [sd_bus_set_address(bus, address), sd_bus_set_bus_client(bus, 1)] where status < 0 {
                return status
            }
            return sd_bus_start(bus)
        }
    }
}

// MARK: CustomStringConvertible

extension BusAddress: CustomStringConvertible {
    public var description: String {
        switch self {
        case .system: "the system bus"
        case .session: "the session bus"
        case .custom(let address): "the bus at \(address)"
        }
    }
}
