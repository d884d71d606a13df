// SPDX-License-Identifier: Apache-2.0

import FileProtection
import Foundation
import KeychainModel
import KeychainTesting
import LinuxSystem
import SecretMemory
import Testing

/// Files of each format that must open in every later version, and a reader that knows only the document.
@Suite struct FrozenFileTests {
    /// The name, the class and the content of each file.
    private static let samples: [(name: String, protection: FileProtectionClass, make: @Sendable () -> [[UInt8]])] = [
        ("complete", .complete, { [Sample.bytes(700, 11)] }),
        ("unless-open", .completeUnlessOpen, { [Sample.bytes(70_000, 12)] }),
        ("first-unlock", .completeUntilFirstUserAuthentication, { [] }),
        // A sparse file with a map: its beginning, and the bytes at 16 MiB.
        ("none", .none, { [Sample.bytes(100, 13), Sample.bytes(50, 14)] }),
        ("complete-2", .complete, { [Sample.bytes(700, 15)] }),
        ("unless-open-2", .completeUnlessOpen, { [Sample.bytes(70_000, 16)] }),
        ("none-2", .none, { [Sample.bytes(100, 17), Sample.bytes(50, 18)] }),
    ]
    /// The files before this one are of format 1, the others of format 2 (the written format).
    private static let firstOfFormat2 = 4

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Vectors")
    private static let distance: UInt64 = 16 << 20

    private static func write(_ index: Int, to path: String, _ classKey: FileClassKey) throws {
        let sample = samples[index]
        let binding = try #require(
            FileKeyRecord.Binding(
                keychain: Array(0..<16), protection: sample.protection, generation: 3,
                file: RandomBytes.array(count: 16), group: AccessGroup("com.example.files", grade: .claimed)))
        let secret = SharedSecret(.random(count: 32))
        let record = try #require(classKey.wrap(secret, binding))
        let descriptor = try OwnedDescriptor(opening: path, flags: O_RDWR | O_CREAT | O_EXCL)
        let container = try ProtectedContainer(
            creating: descriptor, path: path, record, FileKeyCipher(TestKey(secret)), metadata: Array("note".utf8))
        for (number, part) in sample.make().enumerated() { try container.write(part, at: UInt64(number) * distance) }
        try container.commit()
    }

    private static func expected(_ index: Int) -> Data {
        var content = Data()
        for (number, part) in samples[index].make().enumerated() {
            if number > 0 { content.append(Data(count: Int(distance) * number - content.count)) }
            content.append(contentsOf: part)
        }
        return content
    }

    @Test("Frozen files of every format open", arguments: samples.indices)
    func frozen(_ index: Int) throws {
        let sample = Self.samples[index]
        let (file, keyFile) = (
            Self.folder.appending(path: sample.name + ".file"), Self.folder.appending(path: sample.name + ".key")
        )
        if ProcessInfo.processInfo.environment["LATCHKEY_RECORD"] == "1",
            !FileManager.default.fileExists(atPath: file.path)
        {
            let classKey = FileClassKey.random(sample.protection)
            try Self.write(index, to: file.path, classKey)
            let hexadecimal = classKey.stored.withUnsafeBytes { Hexadecimal.text($0) }
            try Data((hexadecimal + "\n").utf8).write(to: keyFile)
            Issue.record("recorded \(sample.name)")
        }
        let classKey = try #require(try Self.classKey(keyFile, sample.protection))
        let container = try ProtectedContainer(
            opening: try OwnedDescriptor(opening: file.path, flags: O_RDONLY), path: file.path, isWritable: false,
            cipher: { (record) throws(FileProtectionError) in
                guard let secret = classKey.unwrap(record) else { throw .wrongKey }
                return FileKeyCipher(TestKey(secret))
            })
        #expect(Data(try container.content()) == Self.expected(index))
        #expect(try container.metadata == Array("note".utf8))
        #expect(try container.keyRecord.binding.generation == 3)
        let version = try Data(contentsOf: file)[8..<10]
        #expect(Array(version) == [0, index < Self.firstOfFormat2 ? 1 : 2])
    }

    @Test("A reader in another language, made from the document alone, reads the files", arguments: samples.indices)
    func foreignReader(_ index: Int) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/file"
        let classKey = FileClassKey.random(Self.samples[index].protection)
        try Self.write(index, to: path, classKey)
        let reader = Self.folder.appending(path: "../../../Scripts/check/protected-file-reader").standardized.path
        guard try Executable.run("/usr/bin/python3", ["-c", "import cryptography"], home: directory.path).status == 0
        else { return print("skipped: python3-cryptography is not installed") }
        let key = classKey.stored.withUnsafeBytes { Hexadecimal.text($0) }
        func run() throws -> (status: Int32, output: Data) {
            let output = directory.path + "/output"
            let result = try Executable.run(
                "/bin/sh", ["-c", "exec /usr/bin/python3 '\(reader)' '\(path)' > '\(output)'"], home: directory.path,
                input: key + "\n")
            return (result.status, try Data(contentsOf: URL(filePath: output)))
        }
        let good = try run()
        #expect(good.status == 0 && good.output == Self.expected(index))
        // It also detects a change.
        var bytes = try Data(contentsOf: URL(filePath: path))
        for position in [100, 4196] { bytes[position] ^= 1 }
        try bytes.write(to: URL(filePath: path))
        #expect(try run().status == 1)
    }

    private static func classKey(_ file: URL, _ protection: FileProtectionClass) throws -> FileClassKey? {
        let text = try String(contentsOf: file, encoding: .utf8).filter { !$0.isNewline }
        let bytes = try #require(Hexadecimal.bytes(text.utf8))
        return FileClassKey(protection, SharedSecret(copying: bytes))
    }
}
