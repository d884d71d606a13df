// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import KeychainModel
public import LinuxSystem

/// Makes plain files protected ones and back, in place: at every moment, also after a crash, the name
/// means the whole old file or the whole new one. The plain content is removed only when the
/// protected one is durable. Owner, mode, times, access control lists and extended attributes stay.
public struct FileConversion: Sendable {
    public enum Outcome: Sendable, Hashable {
        /// A plain file is protected now.
        case protected
        /// The class, the access group or the class key has changed; the content was not touched.
        case rewrapped
        /// Everything was encrypted again with a new key.
        case renewed
        /// The file is plain now.
        case unprotected
        /// Both headers are the same again; no state of the file was given up.
        case repaired
        /// The newest state that can be read whole counts; there may have been a newer one, and a copy of
        /// the former file was kept.
        case restored
        /// Nothing was to be done.
        case unchanged
    }

    /// The target of a conversion.
    public struct Target: Sendable, Hashable {
        /// nil for the present class of a protected file.
        public var protection: FileProtectionClass?
        /// nil for the present group of a protected file, or the first one of the program.
        public var group: String?

        public init(_ protection: FileProtectionClass?, group: String? = nil) {
            (self.protection, self.group) = (protection, group)
        }
    }

    private let keys: any FileKeyProvider
    private let dryRun: Bool
    private let progress: @Sendable (_ bytes: UInt64) -> Void

    /// - Parameters:
    ///   - dryRun: whether everything is checked, and nothing changed.
    ///   - progress: called with the bytes that were processed since the last call.
    public init(
        _ keys: any FileKeyProvider, dryRun: Bool = false,
        progress: @escaping @Sendable (_ bytes: UInt64) -> Void = { _ in }
    ) {
        (self.keys, self.dryRun, self.progress) = (keys, dryRun, progress)
    }

    // MARK: Protecting

    /// Protects a file. One that is protected gets the class and the group.
    ///
    /// - Throws: ``FileProtectionError/unsuitable(_:)`` for a file with several names, of another user,
    ///   or that is not a regular one; ``FileProtectionError/changedMeanwhile``.
    public func protect(
        _ name: FilePath, in directory: OpenDirectory, _ target: Target
    ) throws(FileProtectionError) -> Outcome {
        let plain = try ConvertibleFile(name, in: directory)
        if try plain.isProtected { return try rewrap(name, in: directory, target) }
        guard let protection = target.protection else { throw .notProtected }
        guard !dryRun else { return .protected }
        let key = try keys.newKey(protection, group: target.group)
        let draft = try mapSystemErrors { () throws(SystemError) in try directory.unnamedFile() }
        let container = try ProtectedContainer(
            creating: try draft.duplicate(), path: plain.path, key.record, key.cipher, cacheCount: 0)
        try plain.copyContent { (bytes, offset) throws(FileProtectionError) in
            try container.write(bytes, at: offset)
            progress(UInt64(bytes.count))
        }
        try container.truncate(to: plain.attributes.size)
        try container.commit(durably: false)
        container.close()
        try plain.replace(by: draft)
        return .protected
    }

    // MARK: Changing the key

    /// Wraps the key of a protected file for another class or group, or with the newest class key. The
    /// content is not touched.
    public func rewrap(
        _ name: FilePath, in directory: OpenDirectory, _ target: Target
    ) throws(FileProtectionError) -> Outcome {
        let file = try ConvertibleFile(name, in: directory, flags: dryRun ? O_RDONLY : O_RDWR)
        guard try file.isProtected else { throw .notProtected }
        let container = try ProtectedContainer(
            opening: try file.descriptor.duplicate(), path: file.path, isWritable: !dryRun, cacheCount: 0,
            cipher: { [keys] (record) throws(FileProtectionError) in try keys.cipher(for: record) })
        let present = try container.keyRecord
        let fresh = try keys.rewrap(present, for: target.protection, group: target.group)
        let isRewrapped = fresh.binding != present.binding
        guard isRewrapped || !container.isSettled else { return .unchanged }
        let outcome: Outcome = isRewrapped ? .rewrapped : .repaired
        guard !dryRun else { return outcome }
        if isRewrapped {
            try container.rewrap(fresh, try keys.cipher(for: fresh))
        } else {
            try container.commit()
        }
        try file.keepTimes()
        return outcome
    }

    /// Encrypts a protected file again with a new key of its own.
    public func renew(_ name: FilePath, in directory: OpenDirectory) throws(FileProtectionError) -> Outcome {
        let (file, source) = try openProtected(name, in: directory)
        guard !dryRun else { return .renewed }
        let binding = try source.keyRecord.binding
        let key = try keys.newKey(binding.protection, group: binding.group.name)
        let draft = try mapSystemErrors { () throws(SystemError) in try directory.unnamedFile() }
        let target = try ProtectedContainer(
            creating: try draft.duplicate(), path: file.path, key.record, key.cipher, metadata: try source.metadata,
            cacheCount: 0)
        try copy(source) { (bytes, offset) throws(FileProtectionError) in try target.write(bytes, at: offset) }
        try target.truncate(to: try source.length)
        try target.commit(durably: false)
        target.close()
        try file.replace(by: draft)
        return .renewed
    }

    // MARK: Removing the protection

    /// Makes a protected file a plain one.
    public func unprotect(_ name: FilePath, in directory: OpenDirectory) throws(FileProtectionError) -> Outcome {
        let present = try ConvertibleFile(name, in: directory)
        guard try present.isProtected else { return .unchanged }
        let (file, source) = try openProtected(name, in: directory)
        guard !dryRun else { return .unprotected }
        let draft = try mapSystemErrors { () throws(SystemError) in try directory.unnamedFile() }
        let plain = try OpenContainerFile(try draft.duplicate(), path: file.path)
        try copy(source) { (bytes, offset) throws(FileProtectionError) in try plain.write(bytes, at: offset) }
        try plain.extend(to: try source.length)
        try file.replace(by: draft)
        return .unprotected
    }

    // MARK: Repairing

    /// Makes the headers of a protected file the same again: those of its newest state that can be read
    /// whole. If there may have been a newer one, the former file is kept beside it.
    ///
    /// - Throws: the error of opening the file if no state can be read whole.
    public func repair(_ name: FilePath, in directory: OpenDirectory) throws(FileProtectionError) -> Outcome {
        let file = try ConvertibleFile(name, in: directory, flags: dryRun ? O_RDONLY : O_RDWR)
        guard try file.isProtected else { throw .notProtected }
        let found = try ProtectedContainer.wholeState(
            of: try file.descriptor.duplicate(), path: file.path, isWritable: !dryRun,
            cipher: { [keys] (record) throws(FileProtectionError) in try keys.cipher(for: record) })
        let isWhole = found.container.isSettled
        let outcome: Outcome = isWhole ? .unchanged : found.isNewest ? .repaired : .restored
        guard !dryRun, !isWhole else { return outcome }
        if !found.isNewest { try file.keepCopy(as: Self.formerNames(of: name)) }
        try found.container.commit()
        try file.keepTimes()
        return outcome
    }

    /// The names that ``repair(_:in:)`` gives to the file as it was: the first one that no other file has.
    static func formerNames(of name: FilePath) -> [FilePath] {
        ["\(name).damaged"] + (2...99).map { "\(name).damaged.\($0)" }
    }

    // MARK: Helpers

    /// Opens a protected file, so that no other program changes it meanwhile.
    private func openProtected(
        _ name: FilePath, in directory: OpenDirectory
    ) throws(FileProtectionError) -> (ConvertibleFile, ProtectedContainer) {
        let file = try ConvertibleFile(name, in: directory, flags: dryRun ? O_RDONLY : O_RDWR)
        guard try file.isProtected else { throw .notProtected }
        let container = try ProtectedContainer(
            opening: try file.descriptor.duplicate(), path: file.path, isWritable: !dryRun, cacheCount: 0,
            cipher: { [keys] (record) throws(FileProtectionError) in try keys.cipher(for: record) })
        return (file, container)
    }

    /// Passes the written content of a protected file to `body`.
    private func copy(
        _ source: ProtectedContainer, _ body: (UnsafeRawBufferPointer, UInt64) throws(FileProtectionError) -> Void
    ) throws(FileProtectionError) {
        try source.forEachPart { (part, offset) throws(FileProtectionError) in
            try body(part, offset)
            progress(UInt64(part.count))
        }
    }
}
