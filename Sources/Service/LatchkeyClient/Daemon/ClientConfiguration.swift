// SPDX-License-Identifier: Apache-2.0

internal import Glibc
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
            guard let status = try FileStatus.of(path) else { return ClientConfiguration() }
            try status.requireWrittenOnly(by: owner, path: path)
            let file = try OwnedDescriptor(opening: path, flags: O_RDONLY | O_NONBLOCK)
            var bytes = [UInt8](repeating: 0, count: greatestLength)
            let count = (try? bytes.withUnsafeMutableBytes { try file.read(into: $0, path: path) }) ?? greatestLength
            guard count < greatestLength else { throw SystemError("read", path: path, code: EFBIG) }
            return try parse(String(decoding: bytes.prefix(count), as: UTF8.self), path: path)
        } catch {
            throw KeychainError(error)
        }
    }

    private static func parse(_ text: String, path: String) throws(SystemError) -> ClientConfiguration {
        var configuration = ClientConfiguration()
        for line in text.split(whereSeparator: \.isNewline) {
            let content = line.prefix { $0 != "#" }.filter { !$0.isWhitespace }
            if content.isEmpty { continue }
            guard content == "daemon=system" else {
                throw SystemError(
                    "understand the line '\(line)' of", path: path, code: EINVAL, hint: "the only one there is: daemon = system")
            }
            configuration.requiresSystemDaemon = true
        }
        return configuration
    }

    private static let greatestLength = 65536
}
