// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import KeychainModel
public import LinuxSystem

/// The protection of new files of a directory: its file `.latchkey-protect`, or the same file of the nearest directory
/// above it.
///
/// ```
/// class = complete
/// group = com.example.shared
/// ```
public struct ProtectionPolicy: Hashable, Sendable {
    public let protection: FileProtectionClass
    /// The access group; nil for the first one of the program.
    public let group: String?

    /// The name of the file.
    public static let fileName = ".latchkey-protect"

    public init(_ protection: FileProtectionClass, group: String? = nil) {
        (self.protection, self.group) = (protection, group)
    }

    /// Returns the policy for new files of a directory; nil if there is none.
    ///
    /// - Throws: for a policy that cannot be read, that another user has written, or that is not valid:
    ///   then no file is created.
    public static func nearest(to directory: FilePath) throws(FileProtectionError) -> ProtectionPolicy? {
        guard let resolved = directory.withCString({ realpath($0, nil) }) else {
            throw .system(.last("open", path: directory))
        }
        defer { free(resolved) }
        var place: FilePath? = FilePath(bytes: UnsafeRawBufferPointer(start: resolved, count: strlen(resolved)))
        while let current = place {
            if let policy = try read(in: current) { return policy }
            place = current.parent
        }
        return nil
    }

    /// Returns the policy of this directory itself; nil if it has none.
    public static func read(in directory: FilePath) throws(FileProtectionError) -> ProtectionPolicy? {
        let path = directory.appending(FilePath(fileName))
        do throws(SystemError) {
            guard let status = try FileStatus.ofLink(path) else { return nil }
            guard try !isAnothers(status, in: directory) else { return nil }
            guard status.kind == .file else { throw SystemError("read", path: path, code: EINVAL) }
            // A policy of root holds for the files of others, as other configuration does.
            let owner = status.owner == 0 ? 0 : geteuid()
            guard let file = try ConfigurationFile.read(path, owner: owner, names: ["class", "group"]) else {
                return nil
            }
            return try parse(file)
        } catch {
            throw .system(error)
        }
    }

    /// Whether another user has written the policy of a directory with the sticky bit, such as `/tmp`. It has no effect: it
    /// cannot have replaced one of this user or of root, and as an error it would stop every program that writes there.
    private static func isAnothers(_ policy: FileStatus, in directory: FilePath) throws(SystemError) -> Bool {
        guard policy.owner != 0, policy.owner != geteuid() else { return false }
        return try (FileStatus.of(directory)?.permissions ?? 0) & 0o1000 != 0
    }

    private static func parse(_ file: ConfigurationFile) throws(SystemError) -> ProtectionPolicy {
        guard let line = file.lines.first(where: { $0.name == "class" }) else {
            throw SystemError("read the class in", path: file.path, code: EINVAL, hint: "add a line: class = complete")
        }
        guard let protection = FileProtectionClass(name: line.value) else {
            throw file.refusal(of: line, expected: FileProtectionClass.allCases.map(\.name).joined(separator: "|"))
        }
        let group = file.lines.first { $0.name == "group" }?.value
        return ProtectionPolicy(protection, group: group)
    }

    /// Writes the policy of a directory, and replaces an earlier one.
    public func write(in directory: OpenDirectory) throws(FileProtectionError) {
        var text = "# latchkey protect: the class of new files below this directory\nclass = \(protection.name)\n"
        if let group { text += "group = \(group)\n" }
        do throws(SystemError) {
            let file = try directory.unnamedFile()
            var outcome = Result<Void, SystemError>.success(())
            text.withUTF8 { bytes in
                outcome = Result { () throws(SystemError) in
                    try file.write(UnsafeRawBufferPointer(bytes), path: directory.path.description)
                }
            }
            try outcome.get()
            guard fchmod(file.rawValue, 0o644) == 0 else { throw .last("change the mode of", path: Self.fileName) }
            try file.synchronize(path: directory.path.description)
            try directory.publish(file, as: FilePath(Self.fileName), replaces: true)
            try directory.synchronize()
        } catch {
            throw .system(error)
        }
    }
}
