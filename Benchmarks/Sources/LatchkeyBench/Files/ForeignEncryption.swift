// SPDX-License-Identifier: Apache-2.0

import Foundation

/// age, with a key of its own.
struct AgeEncryption {
    private let age: Program
    private let identity: String
    private let recipient: String

    /// - Parameter directory: where the key is stored.
    init(in directory: String, _ environment: [String: String]) throws {
        age = try Program.find("age", environment).get()
        let generator = try Program.find("age-keygen", environment).get()
        identity = "\(directory)/age-key"
        try generator.run(["-o", identity])
        recipient = try generator.output(["-y", identity]).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Encrypts a file. The result is durable at the end.
    func encrypt(_ source: String, to path: String) throws {
        try age.run(["-r", recipient, "-o", path, source])
        try OpenFile(reading: path).synchronize()
    }

    /// Decrypts a file, and throws the content away.
    func decrypt(_ path: String) throws {
        try age.run(["-d", "-i", identity, "-o", "/dev/null", path])
    }
}

/// A file that age encrypts as a whole.
struct AgeFileContender: BigFileContender {
    let name = "age"
    let encryption: AgeEncryption
    /// The same content as a plain file. It was written before.
    let source: String
    let path: String

    func write(_ content: BigFileContent) throws { try encryption.encrypt(source, to: path) }

    func read() throws -> BigFileReading? {
        try encryption.decrypt(path)
        return nil
    }
}
