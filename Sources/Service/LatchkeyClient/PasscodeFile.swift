// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import KeychainModel
internal import LatchkeyService
internal import LinuxSystem
public import SecretMemory

/// A passcode that lies in a file, comes through a descriptor, or was given to the process by its service manager.
public enum PasscodeFile {
    /// The first line of a file of mode 0600.
    ///
    /// - Throws: errSecNotAvailable where others can read the file, with the chmod.
    public static func read(_ path: String) throws(KeychainError) -> SharedSecret {
        try read(path, isPrivate: true)
    }

    /// The first line that a descriptor gives, up to its end; it is closed.
    public static func read(descriptor: Int32) throws(KeychainError) -> SharedSecret {
        // What a shell hands over is not closed on exec; what this process has opened for itself is, and must not be touched.
        let flags = fcntl(descriptor, F_GETFD)
        guard flags >= 0, flags & FD_CLOEXEC == 0 else {
            throw KeychainError(
                .param, "descriptor \(descriptor) is not open", hint: "open it: latchkey … --passcode-fd 3 3< FILE")
        }
        let owned = OwnedDescriptor(adopting: descriptor)
        return try line(of: "descriptor \(descriptor)") { (buffer) throws(SystemError) in
            try owned.read(into: buffer, path: "descriptor \(descriptor)")
        }
    }

    /// What the environment names: the file in `LATCHKEY_PASSCODE_FILE`, else systemd's credential `latchkey.passcode`; nil for neither.
    static func ofEnvironment(_ environment: (String) -> String?) throws(KeychainError) -> SharedSecret? {
        if let path = environment("LATCHKEY_PASSCODE_FILE"), !path.isEmpty { return try read(path) }
        guard let directory = environment("CREDENTIALS_DIRECTORY"), !directory.isEmpty else { return nil }
        let path = "\(directory)/latchkey.passcode"
        // systemd sees to it that nobody else reads its credentials, by means that a mode does not show.
        return access(path, F_OK) == 0 ? try read(path, isPrivate: false) : nil
    }

    private static func read(_ path: String, isPrivate: Bool) throws(KeychainError) -> SharedSecret {
        try line(of: path) { (buffer) throws(SystemError) in
            try PrivateFile.fill(buffer, from: path, isPrivate: isPrivate)
        }
    }

    private static func line(
        of source: String, _ fill: (UnsafeMutableRawBufferPointer) throws(SystemError) -> Int
    ) throws(KeychainError) -> SharedSecret {
        var count = 0
        let buffer: SecretBytes
        do {
            buffer = try SecretBytes(count: maxCount + 1) { (buffer) throws(SystemError) in count = try fill(buffer) }
        } catch {
            throw KeychainError(error)
        }
        guard count <= maxCount else {
            throw KeychainError(.param, "\(source) holds more than a passcode can have: \(maxCount) bytes")
        }
        return buffer.withUnsafeBytes { bytes in
            var line = bytes.prefix(count)
            if let end = line.firstIndex(of: UInt8(ascii: "\n")) { line = line[..<end] }
            if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
            return SharedSecret(SecretBytes(copying: UnsafeRawBufferPointer(rebasing: line)))
        }
    }

    private static let maxCount = 4096
}
