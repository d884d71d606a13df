// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import KeychainModel
internal import LatchkeyService
internal import LinuxSystem

/// A file whose secrets are replaced. It is opened by its name for each step, so that the number of planned files has no
/// limit.
struct MigratedFile {
    private let path: FilePath
    private let stamp: FileAttributes.Stamp

    private static let maxLength = 64 << 20

    /// Reads a file.
    static func read(_ path: FilePath) throws(KeychainError) -> (file: MigratedFile, content: [UInt8]) {
        try mapErrors { () throws(SystemError) in
            let (directory, name) = try open(path)
            let file = try directory.open(name, flags: O_RDONLY)
            let attributes = try FileAttributes(of: file, path: path.description, withExtended: false)
            guard attributes.isRegular, attributes.size <= maxLength else {
                throw SystemError("replace", path: path, code: attributes.isRegular ? EFBIG : EINVAL)
            }
            guard attributes.linkCount == 1 else { throw SystemError("replace one name of", path: path, code: EMLINK) }
            return (
                MigratedFile(path: path, stamp: attributes.stamp),
                try file.read(upTo: maxLength, path: path.description)
            )
        }
    }

    /// Replaces the file by one with other content, and the same owner, mode and extended attributes. There is the old
    /// file or the new one at any time, also after a crash.
    ///
    /// - Parameter change: returns the new content.
    /// - Throws: if the file was changed since it was read.
    func replace(_ change: ([UInt8]) throws(KeychainError) -> [UInt8]) throws(KeychainError) {
        let path = path.description
        let (directory, name) = try Self.mapErrors { () throws(SystemError) in try Self.open(self.path) }
        let (content, attributes) = try Self.mapErrors { () throws(SystemError) in
            let file = try directory.open(name, flags: O_RDONLY)
            return (
                try file.read(upTo: Self.maxLength, path: path), try FileAttributes(of: file, path: path)
            )
        }
        guard attributes.stamp == stamp else { throw .changedFile }
        let changed = try change(content)
        try Self.mapErrors { () throws(SystemError) in
            let draft = try directory.unnamedFile()
            try changed.withUnsafeBufferPointer { (bytes) throws(SystemError) in
                try draft.write(UnsafeRawBufferPointer(bytes), path: path)
            }
            try attributes.apply(to: draft, path: path, withTimes: false)
            try directory.publish(draft, as: name, replaces: true) { () throws(SystemError) in
                let file = try directory.open(name, flags: O_RDONLY)
                let now = try FileAttributes(of: file, path: path, withExtended: false)
                guard now.stamp == stamp else { throw SystemError("replace the changed file", path: path, code: EBUSY) }
            }
            try directory.synchronize()
        }
    }

    private static func open(_ path: FilePath) throws(SystemError) -> (OpenDirectory, FilePath) {
        guard let name = path.lastComponent else { throw SystemError("open", path: path, code: EISDIR) }
        return (try OpenDirectory(followingLinks: path.parent ?? "."), name)
    }

    private static func mapErrors<Result>(_ body: () throws(SystemError) -> Result) throws(KeychainError) -> Result {
        try withErrors(as: KeychainError.init(ofFile:), body)
    }
}

extension KeychainError {
    static let changedFile = KeychainError(.notAvailable, "the file was changed meanwhile", hint: "try again")
}
