// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The information in /proc about a process.
public struct ProcessDirectory: Sendable {
    private let path: String

    /// - Parameter root: the path of /proc; another directory in tests.
    public init(_ process: Int32, root: String = "/proc") {
        path = "\(root)/\(process)"
    }

    /// The file that the process executes; nil if this process has no permission to read it.
    public var executable: String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("\(path)/exe", &buffer, buffer.count)
        guard count > 0, count < buffer.count else { return nil }
        return String(validating: buffer.prefix(count).lazy.map(UInt8.init(bitPattern:)), as: UTF8.self).map(
            Self.installedPath)
    }

    /// The first argument of the process, by convention its program: a claim. Unlike ``executable``, it can be read of
    /// a process with capabilities.
    public var firstArgument: String? {
        text("cmdline").flatMap { $0.split(separator: "\0", maxSplits: 1).first.map(String.init) }
    }

    /// Opens the directory. It remains the directory of this process, and is empty after the
    /// process has ended, even if its number is reused.
    public func open() -> OpenProcessDirectory? {
        guard let descriptor = try? OwnedDescriptor(opening: path, flags: O_RDONLY | O_DIRECTORY) else { return nil }
        return OpenProcessDirectory(descriptor.release())
    }

    /// The start time of the process, in clock ticks since the boot (proc_pid_stat(5), field 22).
    public var startTime: UInt64? {
        guard let text = text("stat"), let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[end...].split(separator: " ")
        return fields.count > 20 ? UInt64(fields[20]) : nil
    }

    /// Whether the process runs; not if it has ended and its parent has not waited for it yet (proc_pid_stat(5), field 3).
    public var isRunning: Bool {
        // The name of the program, in parentheses, may have any characters.
        let state = text("stat")?.split(separator: ")").last?.split(separator: " ").first
        return state.map { $0 != "Z" && $0 != "X" } ?? false
    }

    /// The control group of the unified hierarchy.
    public var controlGroup: String? {
        text("cgroup")?.split(separator: "\n").first { $0.hasPrefix("0::") }.map { String($0.dropFirst(3)) }
    }

    /// The label that the Linux security module has given the process; nil if there is no such
    /// module.
    public var securityLabel: String? {
        guard let text = text("attr/current") else { return nil }
        let label = text.prefix { $0 != "\0" && $0 != "\n" }
        return label.isEmpty ? nil : String(label)
    }

    /// The file that Flatpak creates in the root of each of its sandboxes.
    public var flatpakInfo: FlatpakInfo {
        var buffer = [UInt8](repeating: 0, count: 65536)
        do throws(SystemError) {
            let file = try OwnedDescriptor(opening: "\(path)/root/.flatpak-info", flags: O_RDONLY | O_NONBLOCK)
            guard let count = try? buffer.withUnsafeMutableBytes({ try file.read(into: $0, path: path) }) else {
                return .unreadable
            }
            return .found(String(decoding: buffer.prefix(count), as: UTF8.self))
        } catch {
            return [ENOENT, ENOTDIR].contains(error.code) ? .missing : .unreadable
        }
    }

    public enum FlatpakInfo: Equatable, Sendable {
        case found(String)
        case missing
        /// The file may exist, but this process cannot read it.
        case unreadable
    }

    /// Whether the process is in a PID namespace below this one, as in sandboxes and containers
    /// (proc_pid_status(5), NSpid).
    public var isNested: Bool {
        let line = text("status")?.split(separator: "\n").first { $0.hasPrefix("NSpid:") }
        // Without this information, a nested process is assumed, because it has fewer rights.
        return line.map { $0.split(whereSeparator: \.isWhitespace).count > 2 } ?? true
    }

    /// Returns the path without the suffix that the kernel appends if the file was replaced, as
    /// when a running program is upgraded.
    package static func installedPath(_ link: String) -> String {
        let mark = " (deleted)"
        guard link.hasSuffix(mark), access(link, F_OK) != 0 else { return link }
        return String(link.dropLast(mark.count))
    }

    /// Reads the start of one of the files. 64 KiB are enough: a process with a thousand groups has
    /// about 10 KiB of `status`.
    private func text(_ name: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let count = try? buffer.withUnsafeMutableBytes { bytes in
            try OwnedDescriptor(opening: "\(path)/\(name)", flags: O_RDONLY | O_NONBLOCK).read(into: bytes, path: name)
        }
        return count.flatMap { String(validating: buffer.prefix($0), as: UTF8.self) }
    }
}

/// An open directory of a process in /proc.
public final class OpenProcessDirectory: Sendable {
    private let descriptor: Int32

    fileprivate init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    public enum Executable: Equatable, Sendable {
        /// The process executes this file.
        case file(File)
        /// This process has no permission to read it.
        case unknown
        /// The process has ended.
        case ended
    }

    /// A file, identified by its inode and by the name that was executed: one file may have several names, and one name
    /// may refer to several files.
    public struct File: Hashable, Sendable {
        let identity: FileStatus.Identity
        let name: [CChar]
    }

    /// The address space that the process has now; nil if this process has no permission to see it,
    /// the kernel has no such file, or the process has ended.
    public var addressSpace: AddressSpace? {
        let opened = openat(descriptor, "pagemap", O_RDONLY | O_CLOEXEC)
        return opened < 0 ? nil : AddressSpace(OwnedDescriptor(adopting: opened))
    }

    /// The file that the process executes now.
    public var executable: Executable {
        var info = stat()
        if fstatat(descriptor, "exe", &info, 0) == 0 {
            var name = [CChar](repeating: 0, count: Int(PATH_MAX))
            let count = readlinkat(descriptor, "exe", &name, name.count)
            name.removeLast(name.count - max(0, count))
            return .file(File(identity: FileStatus(info).identity, name: name))
        }
        // EACCES: no permission. ESRCH: the process has ended; ENOENT: it has ended and was not yet
        // waited for.
        return errno == EACCES || errno == EPERM ? .unknown : .ended
    }
}

/// The address space of a process. A process gets another one whenever it executes a program, the
/// same program included, and has none after its end. A forked child has its own.
///
/// An address space that the process shares with a process that is not its thread (CLONE_VM without CLONE_THREAD, as
/// between vfork(2) and the execution of a program), outlives the process. ``isInUse`` is therefore a fast check that a
/// slower one must confirm from time to time.
public final class AddressSpace: Sendable {
    /// `/proc/PID/pagemap`. It stays the file of the address space that it was opened with.
    private let descriptor: OwnedDescriptor

    fileprivate init(_ descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }

    /// Whether a process still runs in the address space.
    public var isInUse: Bool {
        // One entry, of the page at address 0. Without an address space the file is empty.
        var entry: UInt64 = 0
        return pread(descriptor.rawValue, &entry, MemoryLayout<UInt64>.size, 0) == MemoryLayout<UInt64>.size
    }
}
