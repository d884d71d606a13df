// SPDX-License-Identifier: Apache-2.0

internal import FileProtection
public import FoundationEssentials
public import KeychainModel
internal import LatchkeyClient
internal import LinuxSystem

/// Files as a whole.
extension ProtectedFile {
    /// Returns the whole content of a protected file.
    public static func contents(of path: String, in keychain: Keychain = .default) throws(KeychainError) -> Data {
        let file = try ProtectedFile(path, in: keychain)
        let length = try file.length
        guard length <= UInt64(Int.max) else {
            throw KeychainError(.dataTooLarge, "\(path) is too large to be read as a whole")
        }
        return try file.read(at: 0, count: Int(length))
    }

    /// Writes a file as a whole: the path means the old file or the new one, never a part of it. It is
    /// durable when this returns.
    ///
    /// - Parameters:
    ///   - bytes: the content.
    ///   - path: the file.
    ///   - protection: nil for that of the file that is replaced, of the nearest `.latchkey-protect`,
    ///     or ``FileProtectionClass/completeUntilFirstUserAuthentication``.
    ///   - replacing: whether an existing file is replaced; otherwise that is an error.
    ///   - keychain: the one that keeps the class key.
    public static func write(
        _ bytes: some ContiguousBytes, to path: String, protection: FileProtectionClass? = nil,
        replacing: Bool = true, in keychain: Keychain = .default
    ) throws(KeychainError) {
        try mapErrors(path) { () throws(FileProtectionError) in
            let draft = try ProtectedDraft(path, protection, group: keychain.accessGroup, keychain.fileKeys)
            var outcome = Result<Void, FileProtectionError>.success(())
            bytes.withUnsafeBytes { buffer in
                outcome = Result { () throws(FileProtectionError) in try draft.container.write(buffer, at: 0) }
            }
            try outcome.get()
            try draft.publish(replaces: replacing).close()
        }
    }

    /// Returns the class of a file; nil for a file that is not protected. The key is not needed, and
    /// nothing authenticates the answer.
    ///
    /// - Throws: errSecNotAvailable for a file that cannot be read.
    public static func protection(of path: String) throws(KeychainError) -> FileProtectionClass? {
        try mapErrors(path) { () throws(FileProtectionError) in
            try ProtectedFileInfo.record(of: path)?.binding.protection
        }
    }

    /// Protects a plain file in place, or changes the class of a protected one.
    ///
    /// - Throws: errSecParam for a file with several names, of another user, or that is not a regular
    ///   one; errSecNotAvailable if another program changes it meanwhile.
    public static func protect(
        _ path: String, _ protection: FileProtectionClass, in keychain: Keychain = .default
    ) throws(KeychainError) {
        let group = keychain.accessGroup
        try convert(path, keychain) { (conversion, name, directory) throws(FileProtectionError) in
            try conversion.protect(name, in: directory, FileConversion.Target(protection, group: group))
        }
    }

    /// Makes a protected file a plain one, in place.
    public static func unprotect(_ path: String, in keychain: Keychain = .default) throws(KeychainError) {
        try convert(path, keychain) { (conversion, name, directory) throws(FileProtectionError) in
            try conversion.unprotect(name, in: directory)
        }
    }

    private static func convert(
        _ path: String, _ keychain: Keychain,
        _ body: (FileConversion, FilePath, OpenDirectory) throws(FileProtectionError) -> FileConversion.Outcome
    ) throws(KeychainError) {
        try mapErrors(path) { () throws(FileProtectionError) in
            guard let name = path.split(separator: "/").last else {
                throw .unsuitable("'\(path)' is not the name of a file")
            }
            let directory = try mapSystemErrors { () throws(SystemError) in
                try OpenDirectory(followingLinks: FilePath(path).parent ?? ".")
            }
            _ = try body(FileConversion(keychain.fileKeys), FilePath(name), directory)
            try mapSystemErrors { () throws(SystemError) in try directory.synchronize() }
        }
    }
}
