// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
internal import Glibc

/// The properties of a file beside its content: owner, mode, times, and extended attributes with access control lists.
public struct FileAttributes: Sendable {
    public let owner: UInt32
    public let linkCount: UInt64
    public let size: UInt64
    /// Identifies this state of the file, so that a later change is noticed.
    public let stamp: Stamp
    public let isRegular: Bool
    private let group: UInt32
    private let mode: UInt32
    private let times: [timespec]
    private let extended: [(name: String, value: [UInt8])]

    public struct Stamp: Hashable, Sendable {
        let device: UInt64
        let number: UInt64
        let size: Int64
        let modified: [Int]
        let changed: [Int]
    }

    /// Reads the attributes of an open file.
    ///
    /// - Parameter withExtended: whether the extended attributes are read as well.
    public init(
        of descriptor: borrowing OwnedDescriptor, path: String, withExtended: Bool = true
    ) throws(SystemError) {
        var info = stat()
        guard fstat(descriptor.rawValue, &info) == 0 else { throw .last("get the status of", path: path) }
        owner = info.st_uid
        group = info.st_gid
        mode = info.st_mode & 0o7777
        linkCount = UInt64(info.st_nlink)
        size = UInt64(max(0, info.st_size))
        isRegular = info.st_mode & S_IFMT == S_IFREG
        times = [info.st_atim, info.st_mtim]
        stamp = Stamp(
            device: UInt64(info.st_dev), number: UInt64(info.st_ino), size: Int64(info.st_size),
            modified: [info.st_mtim.tv_sec, info.st_mtim.tv_nsec],
            changed: [info.st_ctim.tv_sec, info.st_ctim.tv_nsec])
        extended = withExtended ? try Self.extended(descriptor, path) : []
    }

    /// Gives another file these attributes. The times come last: nothing may be written afterwards.
    ///
    /// - Parameter withTimes: false if the other file has another content.
    /// - Throws: if one of them cannot be kept, with its name.
    public func apply(
        to descriptor: borrowing OwnedDescriptor, path: String, withTimes: Bool = true
    ) throws(SystemError) {
        var info = stat()
        guard fstat(descriptor.rawValue, &info) == 0 else { throw .last("get the status of", path: path) }
        if info.st_uid != owner || info.st_gid != group {
            guard fchown(descriptor.rawValue, owner, group) == 0 else { throw .last("keep the owner of", path: path) }
        }
        guard fchmod(descriptor.rawValue, mode) == 0 else { throw .last("keep the mode of", path: path) }
        for (name, value) in extended {
            let result = value.withUnsafeBytes {
                latchkey_set_attribute(descriptor.rawValue, name, $0.baseAddress, $0.count)
            }
            guard result == 0 else { throw .last("keep the attribute \(name) of", path: path) }
        }
        if withTimes { try applyTimes(to: descriptor, path: path) }
    }

    /// Sets only the times.
    public func applyTimes(to descriptor: borrowing OwnedDescriptor, path: String) throws(SystemError) {
        guard futimens(descriptor.rawValue, times) == 0 else { throw .last("keep the times of", path: path) }
    }

    private static func extended(
        _ descriptor: borrowing OwnedDescriptor, _ path: String
    ) throws(SystemError) -> [(name: String, value: [UInt8])] {
        var names = [UInt8](repeating: 0, count: maxLength)
        let count = names.withUnsafeMutableBytes { buffer in
            buffer.withMemoryRebound(to: CChar.self) {
                latchkey_list_attributes(descriptor.rawValue, $0.baseAddress, $0.count)
            }
        }
        guard count >= 0 else {
            if errno == EOPNOTSUPP { return [] }
            throw .last("list the attributes of", path: path)
        }
        var found: [(String, [UInt8])] = []
        names.removeSubrange(min(count, names.count)...)
        // Each name ends with a zero.
        for name in names.split(separator: 0).map({ String(decoding: $0, as: UTF8.self) }) {
            var value = [UInt8](repeating: 0, count: maxLength)
            let length = value.withUnsafeMutableBytes {
                latchkey_get_attribute(descriptor.rawValue, name, $0.baseAddress, $0.count)
            }
            guard length >= 0 else { throw .last("read the attribute \(name) of", path: path) }
            value.removeSubrange(min(length, value.count)...)
            found.append((name, value))
        }
        return found
    }

    /// The kernel's limit for the list and for one value (xattr(7)).
    private static let maxLength = 65_536
}

/// The regions of a sparse file that hold data.
public enum SparseRegions {
    /// Returns the next region with data from `offset` on; nil if only a hole is left.
    public static func next(
        in descriptor: borrowing OwnedDescriptor, from offset: UInt64, path: String
    ) throws(SystemError) -> Range<UInt64>? {
        let start = latchkey_next_data(descriptor.rawValue, off_t(offset))
        guard start >= 0 else {
            if errno == ENXIO { return nil }
            throw .last("read", path: path)
        }
        let end = latchkey_next_hole(descriptor.rawValue, start)
        guard end > start else { throw .last("read", path: path) }
        return UInt64(start)..<UInt64(end)
    }
}
