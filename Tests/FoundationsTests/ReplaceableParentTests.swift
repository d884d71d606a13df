// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import LinuxSystem
import Testing

@Suite("Directories with files that others can replace")
struct ReplaceableParentTests {
    @Test(
        "A directory that every user can write is found unless it has the sticky bit; the group's permissions are ignored",
        arguments: [
            (0o700, false), (0o755, false), (0o775, false), (0o1777, false), (0o1707, false), (0o777, true),
            (0o702, true), (0o707, true),
        ])
    func modes(_ mode: Int, _ isFound: Bool) throws {
        let directory = try TemporaryDirectory()
        try makeDirectory("\(directory.path)/middle/home", mode: 0o700)
        try setMode(mode, of: "\(directory.path)/middle")
        for path in ["middle/home", "middle/home/", "middle//./home", "middle/missing/home", "middle/home/../home"] {
            let found = try first(above: "\(directory.path)/\(path)")
            #expect((found != nil) == isFound, "\(path): \(String(describing: found))")
            guard isFound else { continue }
            #expect(found?.reason == .writableByAll(permissions: UInt32(mode)))
            #expect(found?.path.hasSuffix("/middle") == true)
            #expect(found?.hint == "chmod o-w '\(found?.path ?? "")'")
        }
        try setMode(0o700, of: "\(directory.path)/middle")
    }

    @Test("The directory itself and missing directories are not checked")
    func itself() throws {
        let directory = try TemporaryDirectory()
        try makeDirectory("\(directory.path)/home", mode: 0o777)
        #expect(try first(above: "\(directory.path)/home") == nil)
        #expect(try first(above: "\(directory.path)/home/below") != nil)
        #expect(try first(above: "\(directory.path)/missing/also/missing") == nil)
    }

    @Test(
        "Links are followed to their targets, also chains of links and a link at the path itself",
        arguments: [true, false])
    func links(_ isRelative: Bool) throws {
        let directory = try TemporaryDirectory()
        try makeDirectory("\(directory.path)/open/home", mode: 0o700)
        try setMode(0o777, of: "\(directory.path)/open")
        try makeDirectory("\(directory.path)/private", mode: 0o700)
        let target = isRelative ? "../open/home" : "\(directory.path)/open/home"
        try FileManager.default.createSymbolicLink(
            atPath: "\(directory.path)/private/first", withDestinationPath: target)
        try FileManager.default.createSymbolicLink(
            atPath: "\(directory.path)/private/second", withDestinationPath: "first")
        for path in ["private/first", "private/second", "private/second/data"] {
            #expect(try first(above: "\(directory.path)/\(path)")?.path.hasSuffix("/open") == true, "\(path)")
        }
        try setMode(0o755, of: "\(directory.path)/open")
        #expect(try first(above: "\(directory.path)/private/second/data") == nil)
    }

    @Test("A cycle of links is an error")
    func cycle() throws {
        let directory = try TemporaryDirectory()
        try FileManager.default.createSymbolicLink(atPath: "\(directory.path)/a", withDestinationPath: "b")
        try FileManager.default.createSymbolicLink(atPath: "\(directory.path)/b", withDestinationPath: "a")
        #expect(try #require(throws: SystemError.self) { try first(above: "\(directory.path)/a/home") }.code == ELOOP)
    }

    @Test("A directory of another user is found, but not one of root")
    func foreign() throws {
        let directory = try TemporaryDirectory()
        try makeDirectory("\(directory.path)/home", mode: 0o700)
        if geteuid() == 0 { try #require(chown(directory.path, 4242, 4242) == 0) }
        // For the user with the next number, a directory of this user belongs to another user.
        let owner = geteuid() == 0 ? 4242 : geteuid()
        let found = try ReplaceableParent.first(above: "\(directory.path)/home", user: owner + 1)
        #expect(found?.reason == .ownedBy(owner))
        #expect(found?.problem.contains("belongs to user \(owner)") == true)
        #expect(try ReplaceableParent.first(above: "\(directory.path)/home", user: owner) == nil)
        #expect(try ReplaceableParent.first(above: "/proc", user: owner) == nil, "/ is root's")
    }

    @Test(
        "A link of another user is found regardless of its target",
        .enabled(if: geteuid() == 0, "needs root to make one"))
    func foreignLink() throws {
        let directory = try TemporaryDirectory()
        try makeDirectory("\(directory.path)/home", mode: 0o700)
        try FileManager.default.createSymbolicLink(atPath: "\(directory.path)/link", withDestinationPath: "home")
        #expect(try first(above: "\(directory.path)/link") == nil)
        try #require(lchown("\(directory.path)/link", 4242, 4242) == 0)
        #expect(try first(above: "\(directory.path)/link")?.reason == .ownedBy(4242))
    }

    // MARK: Helpers

    private func first(above path: String) throws -> ReplaceableParent? {
        try ReplaceableParent.first(above: path, user: geteuid())
    }

    private func makeDirectory(_ path: String, mode: Int) throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try setMode(mode, of: path)
    }

    private func setMode(_ mode: Int, of path: String) throws {
        try #require(chmod(path, mode_t(mode)) == 0)
    }
}
