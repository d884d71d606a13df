// SPDX-License-Identifier: Apache-2.0

internal import CFuse3
internal import Glibc
public import LinuxSystem

/// A directory where a file system is mounted.
public struct MountPoint: Sendable {
    public let path: FilePath

    /// - Parameter path: means the same after the process has changed its directory.
    public init(_ path: FilePath) { self.path = AbsolutePath.of(path) }

    /// Detaches the file system that a killed process has left behind: until then, every access fails with "Transport
    /// endpoint is not connected".
    ///
    /// - Returns: false if there was nothing to detach.
    @discardableResult
    public func recover() throws(SystemError) -> Bool {
        // The kernel answers stat(2) from its cache for some seconds, and statvfs(3) never.
        var info = statvfs()
        guard path.withCString({ statvfs($0, &info) }) != 0, errno == ENOTCONN else { return false }
        try detach()
        return true
    }

    /// Removes the file system from the tree of directories; programs that use it continue to.
    func detach() throws(SystemError) {
        if geteuid() == 0 {
            guard path.withCString({ umount2($0, CFUSE3_UNMOUNT_DETACH | CFUSE3_UNMOUNT_NO_FOLLOW) }) == 0 else {
                throw .last("unmount", path: path)
            }
        } else {
            try runHelper(["-u", "-z"])
        }
    }

    /// Whether a file system that a process serves is mounted here.
    public var isMounted: Bool {
        get throws(SystemError) {
            guard let here = try FileStatus.of(path), let above = try FileStatus.of("\(path)/..") else { return false }
            return here.isOnAnotherDevice(than: above) ? try FileSystem(holding: path).isUserspace : false
        }
    }

    /// Unmounts the file system.
    ///
    /// - Throws: `EBUSY` if a program uses it; `EINVAL` if nothing is mounted here.
    public func unmount() throws(SystemError) {
        guard try isMounted else {
            throw SystemError("unmount", path: path, code: EINVAL, hint: "nothing is mounted there")
        }
        if geteuid() == 0 {
            guard path.withCString({ umount2($0, CFUSE3_UNMOUNT_NO_FOLLOW) }) == 0 else {
                throw .last("unmount", path: path)
            }
        } else {
            try runHelper(["-u", "-q"])
        }
    }

    /// Ends the connection to the file system, so that every operation fails from now on. Only root may.
    func abort() {
        guard geteuid() == 0 else { return }
        _ = path.withCString { umount2($0, CFUSE3_UNMOUNT_FORCE | CFUSE3_UNMOUNT_NO_FOLLOW) }
    }

    /// Writes the bytes that programs have changed in mapped memory.
    func synchronize() {
        guard let root = try? OwnedDescriptor(opening: path, flags: O_RDONLY | O_DIRECTORY) else { return }
        syncfs(root.rawValue)
    }

    private func runHelper(_ options: [String]) throws(SystemError) {
        let words = (["fusermount3"] + options + ["--"]).map { Array($0.utf8) } + [path.bytes]
        guard try ChildProcess.run(words, input: UnsafeRawBufferPointer(start: nil, count: 0)) == 0 else {
            throw SystemError("unmount", path: path, code: EBUSY)
        }
    }
}
