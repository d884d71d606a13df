// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// A folder that shows the encrypted files of a store as plain ones, by a program with FUSE. It is unmounted with the
/// last reference to it.
final class MountedFolder {
    /// Where the plain files are.
    let point: String
    /// Where the encrypted files are.
    let store: String
    private let program: Program
    private let arguments: [String]
    private var process: MeasuredProcess?

    /// - Parameter arguments: with them the program mounts the store, and stays in the foreground.
    private init(_ program: Program, _ arguments: [String], at place: String) throws {
        guard access("/dev/fuse", R_OK | W_OK) == 0 else { throw MissingTool("/dev/fuse cannot be used") }
        (self.program, self.arguments) = (program, arguments)
        (point, store) = ("\(place)/plain", "\(place)/store")
        for path in [point, store] {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
    }

    /// Mounts a new folder with `latchkey mount`.
    static func latchkey(_ latchkey: Program, at place: String) throws -> MountedFolder {
        let folder = try MountedFolder(latchkey, ["mount", "--foreground", "--class", "first-unlock"], at: place)
        try folder.mount()
        return folder
    }

    /// Mounts a new folder with gocryptfs.
    static func gocryptfs(_ gocryptfs: Program, at place: String) throws -> MountedFolder {
        let passphrase = "\(place)/passphrase"
        let folder = try MountedFolder(gocryptfs, ["-q", "-fg", "-passfile", passphrase], at: place)
        let text = Array("a passphrase of the benchmark\n".utf8)
        try OpenFile(creating: passphrase).write(text, count: text.count)
        try gocryptfs.run(["-q", "-init", "-passfile", passphrase, folder.store])
        try folder.mount()
        return folder
    }

    private func mount() throws {
        let started = try MeasuredProcess(program.path, arguments + [store, point], environment: program.environment)
        process = started
        let end = Stopwatch.now() + Self.timeout
        while MountTable.points(below: point).isEmpty {
            guard started.exitValue(waits: false) == nil, Stopwatch.now() < end else {
                process = nil
                throw MissingTool("\((program.path as NSString).lastPathComponent) cannot mount a folder here")
            }
            usleep(10_000)
        }
    }

    /// Unmounts the folder. The program does it when it is asked to end.
    func unmount() {
        process = nil
        MountTable.detach(below: point)
    }

    /// Mounts the same store again, so that neither the program nor the kernel knows the names in it.
    func remount() throws {
        unmount()
        try mount()
    }

    /// How long a mount may take: a minute, in nanoseconds.
    private static let timeout: UInt64 = 60_000_000_000
}
