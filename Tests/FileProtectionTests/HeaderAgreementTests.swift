// SPDX-License-Identifier: Apache-2.0

@testable import FileProtection
import Foundation
import KeychainModel
import KeychainTesting
import Testing

/// The two headers of a file: equal in every state that a file is left in, and never the reason that an older state is
/// read.
@Suite struct HeaderAgreementTests {
    private static let chunk = ContainerLayout.latest.chunkSize
    private static let header = ContainerFormat.headerLength

    /// A state that a file is left in, made after a first durable commit of 700 bytes.
    private struct State {
        let name: String
        let make: @Sendable (RecordedFile, TestKey) throws -> Void

        init(_ name: String, _ make: @escaping @Sendable (RecordedFile, TestKey) throws -> Void) {
            (self.name, self.make) = (name, make)
        }

        /// A change by the first handle, and its commit.
        init(change name: String, _ change: @escaping @Sendable (ProtectedContainer) throws -> Void) {
            self.init(name) { file, key in
                let container = try HeaderAgreementTests.first(file, key)
                try change(container)
                try container.commit()
                container.close()
            }
        }
    }

    private static func first(_ file: RecordedFile, _ key: TestKey) throws -> ProtectedContainer {
        let container = try Sample.container(file, key)
        try container.write(Sample.bytes(700), at: 0)
        try container.commit()
        return container
    }

    private static let states: [State] = [
        State("new and empty") { try Sample.container($0, $1).commit() },
        State("a draft before its publication") { file, key in
            let container = try Sample.container(file, key)
            try container.write(Sample.bytes(700), at: 0)
            try container.commit(durably: false)
        },
        State(change: "written") { _ in },
        State(change: "edited") {
            try $0.truncate(to: 0)
            try $0.write(Sample.bytes(900, 2), at: 0)
        },
        State(change: "shortened") { try $0.truncate(to: 10) },
        State(change: "emptied") { try $0.truncate(to: 0) },
        State(change: "extended") { try $0.truncate(to: 100_000) },
        State(change: "longer than a chunk") { try $0.write(Sample.bytes(2 * chunk, 3), at: 5) },
        State(change: "with other metadata") { try $0.setMetadata(Array("note".utf8)) },
        State(change: "committed three times") {
            try $0.write([1], at: 0)
            try $0.commit()
            try $0.write([2], at: 0)
            try $0.commit()
            try $0.write([3], at: 0)
        },
        State("changed by a second handle") { file, key in
            try first(file, key).close()
            let second = try Sample.open(file, key, isWritable: true)
            try second.write(Sample.bytes(50, 4), at: 700)
            try second.commit()
        },
        State("synchronized and finished") { file, key in
            let container = try first(file, key)
            for number in 1...3 as ClosedRange<UInt8> {
                try container.write([number], at: 0)
                try container.synchronize()
            }
            #expect(!container.isSettled)
            try container.finish()
            #expect(container.isSettled)
        },
        State("synchronized and committed") { file, key in
            let container = try first(file, key)
            try container.write([1], at: 0)
            try container.synchronize()
            try container.commit()
        },
        State("with another wrapping") { file, key in
            try first(file, key).rewrap(Sample.record("com.example.other"), FileKeyCipher(key))
        },
        State("settled after an interruption") { file, key in
            let container = try first(file, key)
            let before = file.bytes
            try container.write([9], at: 0)
            try container.commit()
            file.replaceBytes(Array(file.bytes[..<header]) + before[header..<2 * header] + file.bytes[(2 * header)...])
            let second = try Sample.open(file, key, isWritable: true)
            #expect(!second.isSettled)
            try second.commit()
            #expect(second.isSettled)
        },
    ]

    @Test("A file that is closed, published or wrapped again has two equal headers", arguments: states.indices)
    func equal(_ index: Int) throws {
        let (file, key) = (RecordedFile(), TestKey())
        try Self.states[index].make(file, key)
        #expect(file.bytes[..<Self.header] == file.bytes[Self.header..<2 * Self.header], "\(Self.states[index].name)")
    }

    @Test("A commit is complete when both headers are on the storage device", arguments: states.indices)
    func durable(_ index: Int) throws {
        let (file, key) = (RecordedFile(), TestKey())
        try Self.states[index].make(file, key)
        guard Self.states[index].name != "a draft before its publication" else { return }
        let end = try #require(file.steps.lastIndex(of: .synchronize))
        #expect(!file.steps[end...].contains { if case .write = $0 { true } else { false } })
    }

    // MARK: Damage

    @Test("A changed byte anywhere is noticed, or gives the right content", .long, arguments: states.indices)
    func everyByte(_ index: Int) throws {
        let (file, key) = (RecordedFile(), TestKey())
        try Self.states[index].make(file, key)
        try Self.expectNoticed(file.bytes, key, Self.states[index].name)
    }

    @Test(
        "After a crash at any point of a commit, a changed byte is noticed, or gives the right content", .long,
        arguments: [false, true])
    func everyByteAfterCrash(_ isSynchronization: Bool) throws {
        let (file, key) = (RecordedFile(), TestKey())
        let container = try Self.first(file, key)
        let before = file.bytes
        file.forgetSteps()
        try container.write(Sample.bytes(800, 5), at: 100)
        try isSynchronization ? container.synchronize() : container.commit()
        var contents: Set<[UInt8]> = []
        for count in 0...file.steps.count {
            var bytes = before
            for step in file.steps[..<count] { RecordedFile.apply(step, to: &bytes) }
            contents.insert(try Sample.open(RecordedFile(bytes), key).content())
            try Self.expectNoticed(bytes, key, "after \(count) steps")
        }
        #expect(contents.count == 2)
    }

    /// Changes bytes of each header alone and of the slots after them, also more than one.
    private static func expectNoticed(_ bytes: [UInt8], _ key: TestKey, _ state: String) throws {
        let right = try Sample.open(RecordedFile(bytes), key).content()
        let decoded = try ContainerHeader(decoding: bytes[..<header])
        let used = decoded.authenticated.count + ContainerSeal.length + decoded.sealedState.count
        func check(_ what: String, _ change: (inout [UInt8]) -> Void) {
            var damaged = bytes
            change(&damaged)
            let found = try? Sample.open(RecordedFile(damaged), key).content()
            #expect(found == nil || found == right, "\(state): \(what)")
        }
        let places = Array(0..<used) + stride(from: used, to: header, by: 301)
        for start in [0, header] {
            for position in places {
                for flip: UInt8 in [0x01, 0x80, 0xFF] {
                    check("byte \(start + position)") { $0[start + position] ^= flip }
                }
            }
            check("zeros at \(start)") {
                $0.replaceSubrange(start..<start + header, with: repeatElement(0, count: header))
            }
            check("other bytes at \(start)") {
                $0.replaceSubrange(start..<start + header, with: Sample.bytes(header, 9))
            }
        }
        for position in stride(from: 2 * header, to: bytes.count, by: 101) {
            check("byte \(position)") { $0[position] ^= 0x10 }
        }
    }

    // MARK: Headers that disagree

    @Test("A header of another file, or one without a trace of the other one, is an error and no older state")
    func unexplained() throws {
        let (file, key) = (RecordedFile(), TestKey())
        let container = try Self.first(file, key)
        let older = file.bytes
        try container.write(Sample.bytes(300_000, 6), at: 0)
        try container.commit()
        let other = RecordedFile()
        let otherContainer = try ProtectedContainer(creating: other, Sample.record(file: 8), FileKeyCipher(key))
        for _ in 0..<9 {
            try otherContainer.setMetadata([1])
            try otherContainer.commit()
            try otherContainer.setMetadata([])
        }
        let parts: [(String, [UInt8])] = [
            ("zeros", [UInt8](repeating: 0, count: Self.header)),
            ("other bytes", Sample.bytes(Self.header, 7)),
            ("the beginning of another file", Array(other.bytes[..<Self.header])),
            ("text", Array("a text\n".utf8) + [UInt8](repeating: 0x20, count: Self.header - 7)),
        ]
        for (name, part) in parts {
            for start in [0, Self.header] {
                var bytes = file.bytes
                bytes.replaceSubrange(start..<start + Self.header, with: part)
                #expect(throws: FileProtectionError.headersDisagree, "\(name) at \(start)") {
                    _ = try Sample.open(RecordedFile(bytes), key).content()
                }
                // The other header is still one that can be restored on request.
                let whole = try ProtectedContainer.wholeState(of: RecordedFile(bytes), isWritable: true) {
                    _ throws(FileProtectionError) in FileKeyCipher(key)
                }
                #expect(!whole.isNewest)
                #expect(try whole.container.content() == Sample.bytes(300_000, 6))
            }
        }
        // An earlier header of the same file, as an interruption leaves it: the newer one counts.
        for start in [0, Self.header] {
            var bytes = file.bytes
            bytes.replaceSubrange(start..<start + Self.header, with: older[start..<start + Self.header])
            #expect(try Sample.open(RecordedFile(bytes), key).content() == Sample.bytes(300_000, 6))
        }
    }

    @Test("Headers of two formats are an error, although both open")
    func twoFormats() throws {
        let (file, key) = (RecordedFile(), TestKey())
        try Self.first(file, key).close()
        let opened = try FoundHeader(Array(file.bytes[..<(2 * Self.header)])) {
            _ throws(FileProtectionError) in FileKeyCipher(key)
        }
        let former = try ContainerHeader(
            sealing: ContainerState(), .first, opened.header.sequence - 1, opened.header.key, with: FileKeyCipher(key))
        let bytes = Array(file.bytes[..<Self.header]) + former.encoded + file.bytes[(2 * Self.header)...]
        #expect(throws: FileProtectionError.headersDisagree) { try Sample.open(RecordedFile(bytes), key) }
        // Under an open handle as well.
        let reader = try Sample.open(file, key)
        let later = try ContainerHeader(
            sealing: ContainerState(), .first, opened.header.sequence + 1, opened.header.key, with: FileKeyCipher(key))
        file.replaceBytes(later.encoded + later.encoded + file.bytes[(2 * Self.header)...])
        #expect(throws: FileProtectionError.damaged("its chunks have another length")) { try reader.content() }
    }

    @Test("Two headers with one number and different states are an error")
    func sameSequence() throws {
        let (file, key) = (RecordedFile(), TestKey())
        try Self.first(file, key).close()
        let opened = try FoundHeader(Array(file.bytes[..<(2 * Self.header)])) {
            _ throws(FileProtectionError) in FileKeyCipher(key)
        }
        let twin = try ContainerHeader(
            sealing: ContainerState(), .latest, opened.header.sequence, opened.header.key, with: FileKeyCipher(key))
        let bytes = Array(file.bytes[..<Self.header]) + twin.encoded + file.bytes[(2 * Self.header)...]
        #expect(throws: FileProtectionError.headersDisagree) { try Sample.open(RecordedFile(bytes), key) }
    }

    @Test("A copy of a header that names another key is a damaged one, and a newer state under that key is not")
    func otherKey() throws {
        let (file, key) = (RecordedFile(), TestKey())
        let container = try Self.first(file, key)
        let older = file.bytes
        func open(_ bytes: [UInt8]) throws -> [UInt8] {
            try ProtectedContainer(opening: RecordedFile(bytes), isWritable: false) {
                (record) throws(FileProtectionError) in
                guard record.binding.keychain == Array(0..<16) else { throw .key(.itemNotFound) }
                return FileKeyCipher(key)
            }.content()
        }
        for start in [0, Self.header] {
            var bytes = older
            bytes[start + 24] ^= 1
            #expect(try open(bytes) == Sample.bytes(700))
        }
        try container.write([9], at: 0)
        try container.commit()
        // The newer header alone names another keychain: its state is not answered with the older one.
        for start in [0, Self.header] {
            let other = Self.header - start
            var bytes = file.bytes
            bytes.replaceSubrange(other..<other + Self.header, with: older[other..<other + Self.header])
            #expect(try open(bytes).first == 9)
            bytes[start + 24] ^= 1
            #expect(throws: FileProtectionError.key(.itemNotFound)) { try open(bytes) }
        }
    }

    @Test("A file as earlier versions left it opens, and the next commit makes its headers equal")
    func earlierVersions() throws {
        let (file, key) = (RecordedFile(), TestKey())
        let container = try Sample.container(file, key)
        let new = file.bytes
        try container.write(Sample.bytes(70_000, 8), at: 0)
        try container.commit()
        container.close()
        // One header is that of the new and empty file.
        file.replaceBytes(Array(new[..<Self.header]) + file.bytes[Self.header...])
        #expect(try Sample.open(file, key).content() == Sample.bytes(70_000, 8))
        // Without the other one, nothing is left that could be taken for it.
        var damaged = file.bytes
        damaged[Self.header + 100] ^= 1
        #expect(throws: FileProtectionError.headersDisagree) { try Sample.open(RecordedFile(damaged), key) }
        #expect(throws: FileProtectionError.headersDisagree) {
            try ProtectedContainer.wholeState(of: RecordedFile(damaged), isWritable: true) {
                _ throws(FileProtectionError) in FileKeyCipher(key)
            }
        }
        let second = try Sample.open(file, key, isWritable: true)
        try second.commit()
        #expect(file.bytes[..<Self.header] == file.bytes[Self.header..<2 * Self.header])
        #expect(try Sample.open(file, key).content() == Sample.bytes(70_000, 8))
    }
}
