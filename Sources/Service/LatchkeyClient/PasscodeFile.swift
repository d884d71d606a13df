// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import KeychainModel
internal import LatchkeyService
public import LinuxSystem
public import SecretMemory

/// Reads a passcode from a file, from a descriptor, or from a credential of the service manager.
public enum PasscodeFile {
    /// Returns the first line of a file with mode 0600.
    ///
    /// - Throws: errSecNotAvailable if other users can read the file; the hint is the chmod
    ///   command. errSecIO if there is no such file.
    public static func read(_ path: FilePath) throws(KeychainError) -> SharedSecret {
        try read(path, isPrivate: true)
    }

    /// Returns the first line that is read from a descriptor, up to its end; closes the descriptor.
    public static func read(descriptor: Int32) throws(KeychainError) -> SharedSecret {
        // Descriptors that a shell passes have no FD_CLOEXEC; those that this process has opened
        // have it, and must not be read.
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

    /// Returns the passcode that the environment names: from the file in `LATCHKEY_PASSCODE_FILE`,
    /// else from systemd's credential `latchkey.passcode`; nil if there is neither.
    static func ofEnvironment() throws(KeychainError) -> SharedSecret? {
        if let path = SecureEnvironment.path(of: "LATCHKEY_PASSCODE_FILE") { return try read(path) }
        guard let directory = SecureEnvironment.path(of: "CREDENTIALS_DIRECTORY") else { return nil }
        let path: FilePath = "\(directory)/latchkey.passcode"
        // systemd protects its credentials from other users by means that the file mode does not
        // show.
        return path.withCString { access($0, F_OK) } == 0 ? try read(path, isPrivate: false) : nil
    }

    private static func read(_ path: FilePath, isPrivate: Bool) throws(KeychainError) -> SharedSecret {
        try line(of: path.description) { (buffer) throws(SystemError) in
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
            throw KeychainError(ofFile: error)
        }
        guard count <= maxCount else {
            throw KeychainError(.param, "the passcode in \(source) is longer than \(maxCount) bytes")
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
