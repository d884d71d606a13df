// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem

/// The configuration of all clients: `/etc/latchkey/client.conf`, lines of `name = value`.
///
/// `daemon = system` means that programs must not open keychains themselves. `daemon = when-enabled` means the same if
/// the socket of the system's daemon is enabled; the installed file contains it.
struct ClientConfiguration: Equatable {
    /// Whether programs must not open keychains themselves.
    var requiresSystemDaemon = false

    static let path = "/etc/latchkey/client.conf"
    /// The link that `systemctl enable latchkeyd.socket` creates.
    private static let enablement = "/etc/systemd/system/sockets.target.wants/latchkeyd.socket"

    /// - Throws: errSecNotAvailable if the file is not valid or not owned by root. Such a file is
    ///   never ignored.
    static func load(
        from path: String = path, owner: UInt32 = 0, enabled: String = enablement
    ) throws(KeychainError) -> ClientConfiguration {
        do throws(SystemError) {
            var configuration = ClientConfiguration()
            guard let file = try ConfigurationFile.read(path, owner: owner, names: ["daemon"]) else {
                return configuration
            }
            for line in file.lines {
                switch line.value {
                case "system": configuration.requiresSystemDaemon = true
                case "when-enabled": configuration.requiresSystemDaemon = try FileStatus.ofLink(enabled) != nil
                default: throw file.refusal(of: line, expected: "system or when-enabled")
                }
            }
            return configuration
        } catch {
            throw KeychainError(error)
        }
    }
}
