// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import LinuxSystem

/// A file that another one with the same attributes may replace.
final class ConvertibleFile {
    /// For messages.
    let path: String
    let descriptor: OwnedDescriptor
    let attributes: FileAttributes
    private let name: FilePath
    private let directory: OpenDirectory

    /// - Throws: ``FileProtectionError/unsuitable(_:)``.
    init(_ name: FilePath, in directory: OpenDirectory, flags: Int32 = O_RDONLY) throws(FileProtectionError) {
        path = directory.path(of: name).description
        (self.name, self.directory) = (name, directory)
        do throws(SystemError) {
            descriptor = try directory.open(name, flags: flags)
            attributes = try FileAttributes(of: descriptor, path: path)
        } catch {
            if error.code == ELOOP { throw .unsuitable("it is a symbolic link: name the file that it leads to") }
            throw .system(error)
        }
        guard attributes.isRegular else { throw .unsuitable("it is not a regular file") }
        guard attributes.owner == geteuid() else {
            throw .unsuitable("it belongs to user \(attributes.owner): run the command as that user")
        }
        guard attributes.linkCount == 1 else {
            throw .unsuitable(
                "it has \(attributes.linkCount) names, and the others would keep the old file: remove them first")
        }
    }

    /// Whether it begins like a protected file.
    var isProtected: Bool {
        get throws(FileProtectionError) {
            do throws(FileProtectionError) {
                _ = try ProtectedContainer.keyRecord(of: descriptor, path: path)
                return true
            } catch {
                switch error {
                case .notProtected: return false
                // A file that begins with the magic bytes is not encrypted once more.
                default: throw error
                }
            }
        }
    }

    /// Passes the parts that hold data to `body`.
    func copyContent(
        _ body: (UnsafeRawBufferPointer, UInt64) throws(FileProtectionError) -> Void
    ) throws(FileProtectionError) {
        let file = try OpenContainerFile(try descriptor.duplicate(), path: path)
        let buffer = ChunkBuffer(ContainerFormat.maxChunkSize)
        var position: UInt64 = 0
        while position < attributes.size {
            let region = try mapSystemErrors { () throws(SystemError) in
                try SparseRegions.next(in: descriptor, from: position, path: path)
            }
            guard let region else { return }
            // Whole chunks, so that none is encrypted twice.
            let chunk = UInt64(ContainerFormat.maxChunkSize)
            position = max(position, region.lowerBound / chunk * chunk)
            while position < min(region.upperBound, attributes.size) {
                let count = try buffer.withBytes { (bytes) throws(FileProtectionError) in
                    let got = try file.read(into: bytes, at: position)
                    try body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes).prefix(got)), position)
                    return got
                }
                guard count > 0 else { throw .changedMeanwhile }
                position += UInt64(count)
            }
        }
    }

    /// Gives the draft this file's attributes and its name, when it is durable.
    ///
    /// - Throws: ``FileProtectionError/changedMeanwhile`` if this file was written since it was opened.
    func replace(by draft: borrowing OwnedDescriptor) throws(FileProtectionError) {
        try mapSystemErrors { () throws(SystemError) in try attributes.apply(to: draft, path: path) }
        var problem: FileProtectionError?
        do throws(SystemError) {
            try directory.publish(draft, as: name, replaces: true) { () throws(SystemError) in
                do throws(FileProtectionError) {
                    try requireUnchanged()
                } catch {
                    problem = error
                    throw SystemError("replace", path: path, code: ESTALE)
                }
            }
        } catch {
            throw problem ?? .system(error)
        }
    }

    /// Keeps a copy of the file, as it is, beside it: with the first of the names that is free, or that has the
    /// copy already, of an attempt that was interrupted. It is durable when this returns.
    func keepCopy(as names: some Sequence<FilePath>) throws(FileProtectionError) {
        for name in names {
            if try isCopy(name) { return }
            do throws(FileProtectionError) { return try makeCopy(as: name) } catch {
                guard case .system(let cause) = error, cause.code == EEXIST else { throw error }
            }
        }
        throw .system(SystemError("keep a copy of", path: path, code: EEXIST))
    }

    /// Whether a file beside this one has the same bytes; they and its name are durable then.
    private func isCopy(_ name: FilePath) throws(FileProtectionError) -> Bool {
        let other: OpenContainerFile
        do throws(FileProtectionError) {
            other = try OpenContainerFile(
                try mapSystemErrors { () throws(SystemError) in try directory.open(name, flags: O_RDONLY) },
                path: directory.path(of: name).description)
        } catch {
            // Without the name it is made; a link, a directory and a file that cannot be read have another name.
            return false
        }
        guard try other.size == attributes.size else { return false }
        let file = try OpenContainerFile(try descriptor.duplicate(), path: path)
        let (mine, theirs) = (ChunkBuffer(ContainerFormat.maxChunkSize), ChunkBuffer(ContainerFormat.maxChunkSize))
        var position: UInt64 = 0
        while position < attributes.size {
            let count = try mine.withBytes { (mine) throws(FileProtectionError) in
                try theirs.withBytes { (theirs) throws(FileProtectionError) in
                    let count = try file.read(into: mine, at: position)
                    guard try other.read(into: theirs, at: position) == count else { return 0 }
                    return mine.prefix(count).elementsEqual(theirs.prefix(count)) ? count : 0
                }
            }
            guard count > 0 else { return false }
            position += UInt64(count)
        }
        try other.synchronize()
        try mapSystemErrors { () throws(SystemError) in try directory.synchronize() }
        return true
    }

    private func makeCopy(as copyName: FilePath) throws(FileProtectionError) {
        let copy = try mapSystemErrors { () throws(SystemError) in try directory.unnamedFile() }
        let target = try OpenContainerFile(try copy.duplicate(), path: directory.path(of: copyName).description)
        try copyContent { (bytes, offset) throws(FileProtectionError) in try target.write(bytes, at: offset) }
        try target.extend(to: attributes.size)
        try mapSystemErrors { () throws(SystemError) in
            try attributes.apply(to: copy, path: directory.path(of: copyName).description)
            try directory.publish(copy, as: copyName, replaces: false)
            try directory.synchronize()
        }
    }

    /// Restores the times of a file after a change of its header.
    func keepTimes() throws(FileProtectionError) {
        try mapSystemErrors { () throws(SystemError) in try attributes.applyTimes(to: descriptor, path: path) }
    }

    private func requireUnchanged() throws(FileProtectionError) {
        let (open, named) = try mapSystemErrors { () throws(SystemError) in
            let present = try directory.open(name, flags: O_RDONLY)
            return (
                try FileAttributes(of: descriptor, path: path, withExtended: false),
                try FileAttributes(of: present, path: path, withExtended: false)
            )
        }
        guard open.stamp == attributes.stamp, named.stamp == attributes.stamp else { throw .changedMeanwhile }
    }
}
