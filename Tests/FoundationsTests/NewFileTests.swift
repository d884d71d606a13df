// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
@testable import LinuxSystem
import Testing

@Suite("New files")
struct NewFileTests {
    @Test("A file is created with its content and its mode, and nothing is left beside it")
    func created() throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/file"
        try NewFile.create(path, content: [1, 2, 3], mode: 0o600)
        #expect(try directory.files() == ["file": [1, 2, 3]])
        #expect(try FileStatus.of(path)?.permissions == 0o600)
    }

    @Test(
        "An occupied path is never replaced, and no draft stays",
        arguments: ["file", "directory", "pipe", "link"], Way.allCases)
    func occupied(_ kind: String, _ way: Way) throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/place"
        switch kind {
        case "directory": #expect(mkdir(path, 0o755) == 0)
        case "pipe": #expect(mkfifo(path, 0o600) == 0)
        case "link": #expect(symlink("\(directory.path)/missing", path) == 0)
        default: try NewFile.create(path, content: [9], mode: 0o600)
        }
        let before = try FileStatus.ofLink(path)?.identity
        #expect(try #require(throws: SystemError.self) { try way.create(path, in: directory.path) }.code == EEXIST)
        #expect(try FileStatus.ofLink(path)?.identity == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["place"])
    }

    @Test("The file gets its name when it is complete, and a failure before leaves nothing", arguments: Way.allCases)
    func atomic(_ way: Way) throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/file"
        let full = SystemError("write", path: path, code: ENOSPC)
        let error = try #require(throws: SystemError.self) {
            try way.create(path, in: directory.path) { () throws(SystemError) in
                #expect(access(path, F_OK) != 0)
                throw full
            }
        }
        #expect(error == full)
        #expect(try directory.files() == [:])
        try way.create(path, in: directory.path)
        #expect(try directory.files() == ["file": Way.content])
    }

    /// How the file is written before it has its name.
    enum Way: CaseIterable {
        case unnamed, draft

        static let content: [UInt8] = [1, 2, 3]

        func create(
            _ path: String, in parent: String, check: () throws(SystemError) -> Void = {}
        ) throws(SystemError) {
            try Self.content.withUnsafeBufferPointer { (buffer) throws(SystemError) in
                let bytes = UnsafeRawBufferPointer(buffer)
                switch self {
                case .unnamed: try NewFile.linkUnnamed(path, in: parent, content: bytes, mode: 0o600, check: check)
                case .draft: try NewFile.linkDraft(path, in: parent, content: bytes, mode: 0o600, check: check)
                }
            }
        }
    }
}
