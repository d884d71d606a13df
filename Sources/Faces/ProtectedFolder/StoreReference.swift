// SPDX-License-Identifier: Apache-2.0

internal import CFileCalls
internal import Glibc
internal import LinuxSystem
internal import UserspaceFileSystem

/// One file of the store, by any name: changes of its attributes.
struct StoreReference {
    /// A descriptor, also one of O_PATH; its owner keeps it open.
    let descriptor: Int32

    var status: stat { get throws(FileSystemError) { try StoreDirectory.status(of: descriptor) } }

    func setPermissions(_ mode: UInt32) throws(FileSystemError) {
        guard chmod(path, mode) == 0 else { throw .last }
    }

    /// - Parameters: nil for a value that stays.
    func setOwner(_ user: UInt32?, _ group: UInt32?) throws(FileSystemError) {
        guard fchownat(descriptor, "", user ?? .max, group ?? .max, CFILECALLS_EMPTY_PATH) == 0 else { throw .last }
    }

    /// - Parameters: nil for a value that stays.
    func setTimes(
        accessed: AttributeChanges.Time?, modified: AttributeChanges.Time?
    ) throws(FileSystemError) {
        let times = [Self.timespec(accessed), Self.timespec(modified)]
        guard utimensat(descriptor, "", times, CFILECALLS_EMPTY_PATH) == 0 else { throw .last }
    }

    private static func timespec(_ time: AttributeChanges.Time?) -> timespec {
        switch time {
        case nil: Glibc.timespec(tv_sec: 0, tv_nsec: CFILECALLS_TIME_OMIT)
        case .now: Glibc.timespec(tv_sec: 0, tv_nsec: CFILECALLS_TIME_NOW)
        case .at(let time): time.timespec
        }
    }

    func link(in directory: StoreDirectory, as name: String) throws(FileSystemError) {
        guard linkat(AT_FDCWD, path, directory.descriptor.rawValue, name, AT_SYMLINK_FOLLOW) == 0 else { throw .last }
    }

    // MARK: Extended attributes

    func attribute(_ name: String) throws(FileSystemError) -> [UInt8] {
        try Self.value(max: 65_536) { getxattr(path, name, $0, $1) }
    }

    func setAttribute(_ name: String, _ value: [UInt8], flags: Int32) throws(FileSystemError) {
        guard setxattr(path, name, value, value.count, flags) == 0 else { throw .last }
    }

    func removeAttribute(_ name: String) throws(FileSystemError) {
        guard removexattr(path, name) == 0 else { throw .last }
    }

    var attributeNames: [[UInt8]] {
        get throws(FileSystemError) {
            let list = try Self.value(max: 65_536) { buffer, size in
                listxattr(path, buffer?.assumingMemoryBound(to: CChar.self), size)
            }
            return list.split(separator: 0).map { Array($0) }
        }
    }

    private static func value(
        max: Int, _ read: (UnsafeMutableRawPointer?, Int) -> Int
    ) throws(FileSystemError) -> [UInt8] {
        var code: Int32 = 0
        let value = [UInt8](unsafeUninitializedCapacity: max) { buffer, count in
            let got = read(buffer.baseAddress.map { UnsafeMutableRawPointer($0) }, max)
            if got < 0 { code = errno }
            count = Swift.max(0, got)
        }
        guard code == 0 else { throw FileSystemError(code) }
        return value
    }

    /// The kernel's link to the file itself: calls without a variant for descriptors of O_PATH use it.
    private var path: String { "/proc/self/fd/\(descriptor)" }
}
