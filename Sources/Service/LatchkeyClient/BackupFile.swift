// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import KeychainModel
public import LatchkeyService
public import LinuxSystem

/// A backup file: written completely or not at all, and readable only by its owner.
public enum BackupFile {
    /// Writes a temporary file in the same directory, and renames it when it is complete and
    /// durable.
    ///
    /// - Parameter replaces: whether an existing file may be replaced.
    /// - Throws: errSecDuplicateItem if the file exists and may not be replaced.
    public static func write<Result>(
        _ path: FilePath, replaces: Bool, _ body: (@escaping BackupSink) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        let temporaryPath: FilePath = "\(path).draft-\(getpid())"
        let shown = path.description
        if !replaces { try refuseExisting(path) }
        let descriptor = try opened(temporaryPath, O_WRONLY | O_CREAT | O_EXCL)
        var isDone = false
        defer { if !isDone { _ = temporaryPath.withCString { unlink($0) } } }
        let result = try body { (bytes) throws(KeychainError) in
            try withErrors(as: KeychainError.init(ofFile:)) { () throws(SystemError) in
                try descriptor.write(bytes, path: shown)
            }
        }
        try withErrors(as: KeychainError.init(ofFile:)) { () throws(SystemError) in
            try descriptor.synchronize(path: shown)
            isDone = try publish(temporaryPath, as: path, replaces: replaces)
        }
        try withErrors(as: KeychainError.init(ofFile:)) { () throws(SystemError) in
            let folder = path.parent ?? "."
            try OwnedDescriptor(opening: folder, flags: O_RDONLY | O_DIRECTORY).synchronize(path: folder.description)
        }
        return result
    }

    /// Lends the bytes of the file to `body`, in order; `-` is standard input from its current
    /// position.
    public static func read<Result>(
        _ path: FilePath, _ body: (@escaping BackupSource) throws(KeychainError) -> Result
    ) throws(KeychainError) -> Result {
        let shown = path.description
        let descriptor = path == "-" ? try standardInput() : try opened(path, O_RDONLY)
        return try body { (buffer) throws(KeychainError) in
            try withErrors(as: KeychainError.init(ofFile:)) { () throws(SystemError) in
                try descriptor.read(into: buffer, path: shown)
            }
        }
    }

    /// Gives the temporary file its final name; returns false if it still has the temporary name as
    /// well.
    private static func publish(_ temporaryPath: FilePath, as path: FilePath, replaces: Bool) throws(SystemError)
        -> Bool
    {
        // link(2) never replaces, rename(2) always does.
        if !replaces {
            if both(temporaryPath, path, { link($0, $1) }) == 0 { return false }
            // FAT and other file systems without hard links: the name is created first, and then
            // replaced.
            guard [EPERM, EOPNOTSUPP, ENOSYS].contains(errno) else { throw .last("create", path: path) }
            _ = try OwnedDescriptor(opening: path, flags: O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
        }
        guard both(temporaryPath, path, { rename($0, $1) }) == 0 else { throw .last("create", path: path) }
        return true
    }

    private static func both(
        _ first: FilePath, _ second: FilePath, _ call: (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int32
    ) -> Int32 {
        first.withCString { first in second.withCString { second in call(first, second) } }
    }

    private static func refuseExisting(_ path: FilePath) throws(KeychainError) {
        guard path.withCString({ access($0, F_OK) }) == 0 else { return }
        throw KeychainError(.duplicateItem, "\(path) exists")
    }

    private static func opened(_ path: FilePath, _ flags: Int32) throws(KeychainError) -> SharedDescriptor {
        try withErrors(as: KeychainError.init(ofFile:)) { () throws(SystemError) in
            SharedDescriptor(try OwnedDescriptor(opening: path, flags: flags, mode: 0o600))
        }
    }

    private static func standardInput() throws(KeychainError) -> SharedDescriptor {
        let copy = dup(STDIN_FILENO)
        guard copy >= 0 else { throw KeychainError(SystemError.last("read standard input")) }
        return SharedDescriptor(OwnedDescriptor(adopting: copy))
    }
}

/// A file descriptor that a closure can capture.
private final class SharedDescriptor {
    private let descriptor: OwnedDescriptor

    init(_ descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }

    func write(_ bytes: UnsafeRawBufferPointer, path: String) throws(SystemError) {
        try descriptor.write(bytes, path: path)
    }
    func read(into buffer: UnsafeMutableRawBufferPointer, path: String) throws(SystemError) -> Int {
        try descriptor.read(into: buffer, path: path)
    }
    func synchronize(path: String) throws(SystemError) { try descriptor.synchronize(path: path) }
}
