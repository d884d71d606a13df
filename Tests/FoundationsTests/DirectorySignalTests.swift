// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
@_spi(Testing) import LinuxSystem
import Testing

@Suite("Signals at directories")
struct DirectorySignalTests {
    private let directory: TemporaryDirectory
    private let raised = EventCount()
    private let ended = EventCount()

    init() throws { directory = try TemporaryDirectory() }

    private func observe(_ path: String) throws -> Int {
        try DirectorySignal.ofProcess.addObserver(of: path) { [raised, ended] event in
            switch event {
            case .raised: raised.increase()
            case .ended: ended.increase()
            }
        }
    }

    @Test("An observer is called for each signal, and not after it was removed")
    func raises() throws {
        let number = try observe(directory.path)
        let other = EventCount()
        let second = try DirectorySignal.ofProcess.addObserver(of: directory.path + "/.") { _ in other.increase() }
        for count in 1...3 {
            #expect(DirectorySignal.raise(directory.path))
            #expect(eventually { raised.value == count && other.value == count })
        }
        DirectorySignal.ofProcess.removeObserver(number)
        #expect(DirectorySignal.raise(directory.path))
        #expect(eventually { other.value == 4 })
        #expect(raised.value == 3 && ended.value == 0)
        DirectorySignal.ofProcess.removeObserver(second)
        DirectorySignal.ofProcess.removeObserver(second)
    }

    @Test("Changes of the entries of a directory are no signals")
    func entries() throws {
        let number = try observe(directory.path)
        let path = "\(directory.path)/entry"
        for _ in 0..<100 {
            #expect(FileManager.default.createFile(atPath: path, contents: Data("text".utf8)))
            #expect(chmod(path, 0o600) == 0 && utimensat(AT_FDCWD, path, nil, 0) == 0)
            #expect(rename(path, path + "2") == 0 && unlink(path + "2") == 0)
        }
        #expect(DirectorySignal.raise(directory.path))
        #expect(eventually { raised.value > 0 })
        #expect(raised.value == 1)
        DirectorySignal.ofProcess.removeObserver(number)
    }

    @Test("An observer is told that it has ended when its directory is removed or renamed", arguments: [true, false])
    func ends(isRemoved: Bool) throws {
        let path = "\(directory.path)/observed"
        #expect(mkdir(path, 0o700) == 0)
        _ = try observe(path)
        #expect((isRemoved ? rmdir(path) : rename(path, path + "2")) == 0)
        #expect(eventually { ended.value == 1 })
        // A new directory of the same name has observers of its own.
        #expect(mkdir(path, 0o700) == 0)
        let number = try observe(path)
        #expect(DirectorySignal.raise(path))
        #expect(eventually { raised.value >= 1 })
        #expect(ended.value == 1)
        DirectorySignal.ofProcess.removeObserver(number)
    }

    @Test("A directory that does not exist, or a file, is refused")
    func refused() throws {
        let error = try #require(throws: SystemError.self) { try observe("\(directory.path)/none") }
        #expect(error.code == ENOENT && error.path == "\(directory.path)/none")
        #expect(FileManager.default.createFile(atPath: "\(directory.path)/file", contents: nil))
        let other = try #require(throws: SystemError.self) { try observe("\(directory.path)/file") }
        #expect(other.code == ENOTDIR)
        #expect(!DirectorySignal.raise("\(directory.path)/none"))
    }
}
