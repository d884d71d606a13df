// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import LinuxSystem
import Testing

@Suite("Home lock")
struct HomeLockTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @Test("The lock has one holder at a time")
    func exclusive() throws {
        let path = "\(directory.path)/lock"
        let first = try #require(try HomeLock(path))
        #expect(try HomeLock(path) == nil)
        withExtendedLifetime(first) {}
    }

    @Test("A released lock is free even if a child between fork and exec still has the open file")
    func inheritedDescriptor() throws {
        let path = "\(directory.path)/lock"
        var holder = try HomeLock(path)
        let descriptor = try #require(try Self.descriptor(of: path))
        // Like a duplicate, such a child shares the open file description.
        let duplicate = dup(descriptor)
        defer { close(duplicate) }
        #expect(duplicate >= 0)
        #expect(holder != nil)
        holder = nil
        #expect(try HomeLock(path) != nil)
    }

    /// The descriptor of this process that refers to the file.
    private static func descriptor(of path: String) throws -> Int32? {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }.first {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
        }
    }
}
