// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem

/// What the administrator says to every client: `/etc/latchkey/client.conf`, lines of `name = value`.
struct ClientConfiguration: Equatable {
    /// Whether programs must not open keychains themselves: `daemon = system`.
    var requiresSystemDaemon = false

    static let path = "/etc/latchkey/client.conf"

    /// - Throws: errSecNotAvailable where the file is not understood, or is not root's: it is never passed over.
    static func load(from path: String = path, owner: UInt32 = 0) throws(KeychainError) -> ClientConfiguration {
        do throws(SystemError) {
            var configuration = ClientConfiguration()
            guard let file = try ConfigurationFile.read(path, owner: owner, names: ["daemon"]) else { return configuration }
            for line in file.lines {
                guard line.value == "system" else { throw file.refusal(of: line, expected: "system") }
                configuration.requiresSystemDaemon = true
            }
            return configuration
        } catch {
            throw KeychainError(error)
        }
    }
}
