// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
@testable import LinuxSystem
import Synchronization
import Testing

@Suite("Private files and directories")
struct PrivateFileTests {
    @Test("A file is created once; the loser of a race keeps the winner's content and leaves no draft")
    func madeOnce() throws {
        let temporary = try TemporaryDirectory()
        let directory = try PrivateDirectory(creating: "\(temporary.path)/d")
        let winners = Mutex<[UInt8]>([])
        DispatchQueue.concurrentPerform(iterations: 16) { number in
            let content = [UInt8](repeating: UInt8(number), count: 32)
            let isCreated = content.withUnsafeBytes { try? PrivateFile.create("key", in: directory, content: $0) }
            if isCreated == true { winners.withLock { $0.append(UInt8(number)) } }
        }
        let winner = try #require(winners.withLock { $0 }.first)
        #expect(winners.withLock { $0.count } == 1)
        #expect(try temporary.files() == ["d/key": [UInt8](repeating: winner, count: 32)])
    }

    @Test("Without unnamed files a draft is used, even one that a killed process has left")
    func draft() throws {
        let temporary = try TemporaryDirectory()
        let directory = try PrivateDirectory(creating: "\(temporary.path)/d")
        try write([9, 9, 9, 9, 9, 9], to: "\(temporary.path)/d/key.draft", mode: 0o600)
        let content: [UInt8] = [1, 2, 3, 4]
        #expect(
            try content.withUnsafeBytes {
                try PrivateFile.linkTemporaryFile("\(temporary.path)/d/key", in: directory, content: $0)
            })
        #expect(
            try !content.withUnsafeBytes {
                try PrivateFile.linkTemporaryFile("\(temporary.path)/d/key", in: directory, content: $0)
            })
        #expect(try temporary.files() == ["d/key": content])
    }

    @Test("Reading distinguishes missing, too short, too long and not private files")
    func reading() throws {
        let temporary = try TemporaryDirectory()
        let path = "\(temporary.path)/key"
        var buffer = [UInt8](repeating: 0, count: 4)
        func read() throws -> Bool { try buffer.withUnsafeMutableBytes { try PrivateFile.read(path, into: $0) } }
        #expect(try !read())
        try write([1, 2, 3], to: path, mode: 0o600)
        #expect(try #require(throws: SystemError.self) { try read() }.code == EINVAL)
        try write([1, 2, 3, 4, 5], to: path, mode: 0o600)
        #expect(try #require(throws: SystemError.self) { try read() }.code == EINVAL)
        try write([1, 2, 3, 4], to: path, mode: 0o640)
        let error = try #require(throws: SystemError.self) { try read() }
        #expect(error.code == EACCES)
        #expect(error.hint == "chmod 600 \(path.shellQuoted)")
        try write([1, 2, 3, 4], to: path, mode: 0o600)
        #expect(try read())
        #expect(buffer == [1, 2, 3, 4])
    }

    @Test("A symbolic link to a secret is not followed")
    func symbolicLink() throws {
        let temporary = try TemporaryDirectory()
        try write([1, 2, 3, 4], to: "\(temporary.path)/real", mode: 0o600)
        try FileManager.default.createSymbolicLink(
            atPath: "\(temporary.path)/key", withDestinationPath: "\(temporary.path)/real")
        var buffer = [UInt8](repeating: 0, count: 4)
        #expect(throws: SystemError.self) {
            try buffer.withUnsafeMutableBytes { try PrivateFile.read("\(temporary.path)/key", into: $0) }
        }
    }

    @Test("Directories are created private with their parents, and rejected if they are not private")
    func directories() throws {
        let temporary = try TemporaryDirectory()
        let path = "\(temporary.path)/a/b/c"
        _ = try PrivateDirectory(creating: path)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o700)
        try FileManager.default.setAttributes([.posixPermissions: 0o701], ofItemAtPath: path)
        #expect(
            try #require(throws: SystemError.self) { try PrivateDirectory(creating: path) }.hint
                == "chmod 700 \(path.shellQuoted)")
        try write([1], to: "\(temporary.path)/file", mode: 0o600)
        #expect(
            try #require(throws: SystemError.self) { try PrivateDirectory(creating: "\(temporary.path)/file") }.code
                == ENOTDIR)
    }

    @Test("A directory that inherits the group of its parent is private")
    func setGroupID() throws {
        let temporary = try TemporaryDirectory()
        try FileManager.default.setAttributes([.posixPermissions: 0o2700], ofItemAtPath: temporary.path)
        _ = try PrivateDirectory(creating: "\(temporary.path)/d")
    }

    @Test(
        "KDB-9: file systems without shared memory are recognized by their numbers",
        arguments: [(0x6969, "NFS"), (0x6573_5546, "FUSE"), (0x0102_1997, "9P")])
    func fileSystems(_ number: Int64, _ name: String) throws {
        #expect(FileSystem(type: number).unsafeForSharedMemory == name)
        #expect(FileSystem(type: 0xEF53).unsafeForSharedMemory == nil, "ext4")
        #expect(try FileSystem(holding: "/proc").unsafeForSharedMemory == nil)
        #expect(throws: SystemError.self) { try FileSystem(holding: "/nowhere/at/all") }
    }

    @Test("Random bytes differ, and each byte has two hexadecimal digits")
    func random() {
        #expect(RandomBytes.array(count: 16) != RandomBytes.array(count: 16))
        #expect(RandomBytes.hexadecimal(count: 300).count == 600)
    }

    private func write(_ bytes: [UInt8], to path: String, mode: Int) throws {
        try Data(bytes).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }
}
