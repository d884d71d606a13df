// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// Removes files from the kernel's cache, so that a measurement includes reading them from the disk.
enum ColdCache {
    /// How the content was removed.
    enum Method: String {
        case advice = "posix_fadvise"
        /// The content of all files of the machine (proc(5), drop_caches).
        case everything = "drop_caches"
    }

    /// Removes the content of files from the cache, and of those below directories.
    ///
    /// - Returns: how; nil if the content is still there.
    static func drop(_ paths: [String]) -> Method? {
        if advise(paths) { return .advice }
        return dropEverything() ? .everything : nil
    }

    /// Removes the content of these files only.
    ///
    /// - Returns: false if a part of it is still there.
    static func advise(_ paths: [String]) -> Bool {
        let all = paths.flatMap { files(at: $0) }
        for file in all {
            withDescriptor(file) { descriptor in
                // Only pages on the disk are removed.
                fsync(descriptor)
                posix_fadvise(descriptor, 0, 0, dontNeed)
            }
        }
        var (resident, total) = (0, 0)
        for file in all {
            withDescriptor(file) { descriptor in
                let pages = pages(of: descriptor)
                resident += pages.resident
                total += pages.total
            }
        }
        return resident * 50 <= total
    }

    private static func files(at path: String) -> [String] {
        guard isDirectory(path) else { return [path] }
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []
        return names.map { "\(path)/\($0)" }.filter { !isDirectory($0) }
    }

    private static func isDirectory(_ path: String) -> Bool {
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory.boolValue
    }

    private static func withDescriptor(_ path: String, _ body: (Int32) -> Void) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        body(descriptor)
    }

    /// How many pages a file has, and how many of them the cache holds. All of them, if the kernel does
    /// not say it.
    private static func pages(of descriptor: Int32) -> (resident: Int, total: Int) {
        let length = Int(lseek(descriptor, 0, SEEK_END))
        guard length > 0 else { return (0, 0) }
        let size = Int(getpagesize())
        let total = (length + size - 1) / size
        let mapping = mmap(nil, length, PROT_READ, MAP_SHARED, descriptor, 0)
        guard let mapping, mapping != MAP_FAILED else { return (total, total) }
        defer { munmap(mapping, length) }
        var states = [UInt8](repeating: 0, count: total)
        guard mincore(mapping, length, &states) == 0 else { return (total, total) }
        return (states.reduce(0) { $0 + Int($1 & 1) }, total)
    }

    private static func dropEverything() -> Bool {
        sync()
        let descriptor = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return write(descriptor, [UInt8(ascii: "1")], 1) == 1
    }

    /// POSIX_FADV_DONTNEED of Linux.
    private static let dontNeed: Int32 = 4
}
