// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainModel
import KeychainTesting
import KeyServices
import SecretMemory

/// The command `openssl` as a judge, with files of its own.
final class OpenSSL {
    private let directory: TemporaryDirectory
    private var number = 0

    init() throws {
        directory = try TemporaryDirectory()
    }

    struct Outcome {
        var status: Int32
        var output: [UInt8]
        var error: String
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// A file with these bytes.
    func file(_ bytes: some Sequence<UInt8>) throws -> String {
        number += 1
        let path = "\(directory.path)/\(number)"
        try Data(bytes).write(to: URL(filePath: path))
        return path
    }

    func file(_ entry: KeyFileEntry, as structure: KeyFile.Structure = .pkcs8) throws -> String {
        try file(KeyFile.write(entry, as: structure).bytes)
    }

    func run(_ words: [String], program: String = "/usr/bin/openssl") throws -> Outcome {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = words
        process.environment = ["PATH": "/usr/bin:/bin", "HOME": directory.path]
        process.standardInput = FileHandle.nullDevice
        let (output, error) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = error
        try process.run()
        let said = output.fileHandleForReading.readDataToEndOfFile()
        let complaint = error.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Outcome(status: process.terminationStatus, output: Array(said), error: String(decoding: complaint, as: UTF8.self))
    }

    /// Runs what has to succeed; what it prints.
    @discardableResult
    func output(_ words: [String], program: String = "/usr/bin/openssl") throws -> [UInt8] {
        let outcome = try run(words, program: program)
        guard outcome.status == 0 else { throw Failure(description: "\(words.joined(separator: " ")): \(outcome.error)") }
        return outcome.output
    }

    // MARK: Operations

    private func options(_ options: [String]) -> [String] { options.flatMap { ["-pkeyopt", $0] } }

    func sign(_ digest: [UInt8], _ key: KeyFileEntry, _ settings: [String]) throws -> [UInt8] {
        try output(["pkeyutl", "-sign", "-inkey", file(key), "-in", file(digest)] + options(settings))
    }

    func verifies(_ signature: [UInt8], of digest: [UInt8], _ key: PublicKey, _ settings: [String]) throws -> Bool {
        try run(
            ["pkeyutl", "-verify", "-pubin", "-inkey", file(.publicKey(key)), "-sigfile", file(signature), "-in", file(digest)]
                + options(settings)
        ).status == 0
    }

    func encrypt(_ plaintext: [UInt8], _ key: PublicKey, _ settings: [String]) throws -> [UInt8] {
        try output(["pkeyutl", "-encrypt", "-pubin", "-inkey", file(.publicKey(key)), "-in", file(plaintext)] + options(settings))
    }

    func decrypt(_ ciphertext: [UInt8], _ key: KeyFileEntry, _ settings: [String]) throws -> [UInt8] {
        try output(["pkeyutl", "-decrypt", "-inkey", file(key), "-in", file(ciphertext)] + options(settings))
    }

    func derive(_ key: KeyFileEntry, _ other: PublicKey) throws -> [UInt8] {
        try output(["pkeyutl", "-derive", "-inkey", file(key), "-peerkey", file(.publicKey(other))])
    }
}

extension SharedSecret {
    var bytes: [UInt8] { withUnsafeBytes { Array($0) } }
}

extension [UInt8] {
    init(hexadecimal text: String) {
        let digits = Array<UInt8>(text.utf8.filter { !$0.isWhitespace })
        self = stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
        }
    }
}

extension UInt8 {
    fileprivate var isWhitespace: Bool { self == 0x20 || self == 0x0A }
}

/// Keys that are made once: large ones take a while.
enum SampleKeys {
    static let rsa1024 = imported(bits: 1024)
    static let rsa2048 = made(KeyKind(.rsa, bits: 2048))
    static let rsa3072 = imported(bits: 3072)
    static let rsa4096 = imported(bits: 4096)
    /// Of Tests/Vectors: openssl takes half a minute to make one.
    static let rsa8192 = kept("rsa-8192.pem")
    static let p192 = imported(curve: "prime192v1")
    static let p224 = made(KeyKind(.ellipticCurve, bits: 224))
    static let p256 = made(KeyKind(.ellipticCurve, bits: 256))
    static let p384 = made(KeyKind(.ellipticCurve, bits: 384))
    static let p521 = made(KeyKind(.ellipticCurve, bits: 521))

    static var rsa: [SoftwareKey] { [rsa1024, rsa2048, rsa3072, rsa4096, rsa8192].compactMap { $0 } }
    static var curves: [SoftwareKey] { [p192, p224, p256, p384, p521].compactMap { $0 } }

    private static func made(_ kind: KeyKind) -> SoftwareKey? { try? SoftwareKey.generate(kind) }

    private static func imported(bits: Int) -> SoftwareKey? { imported(["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:\(bits)"]) }
    private static func imported(curve: String) -> SoftwareKey? {
        imported(["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:\(curve)"])
    }

    private static func imported(_ words: [String]) -> SoftwareKey? {
        (try? OpenSSL().output(["genpkey"] + words)).flatMap(first)
    }

    private static func kept(_ name: String) -> SoftwareKey? { (try? Array(Data(contentsOf: Vectors.file(name)))).flatMap(first) }

    private static func first(_ pem: [UInt8]) -> SoftwareKey? {
        guard let entry = try? KeyFile.read(pem).first, case .privateKey(let key) = entry else { return nil }
        return key
    }
}

extension KeyFile {
    static func read(_ bytes: [UInt8], passphrase: SharedSecret? = nil) throws(KeychainError) -> [KeyFileEntry] {
        try bytes.withUnsafeBufferPointer { (pointer) throws(KeychainError) in
            try read(UnsafeRawBufferPointer(pointer), passphrase: passphrase)
        }
    }
}

// Calls with arrays, for tests.
extension PrivateKey {
    func signature(of input: [UInt8], _ algorithm: KeyAlgorithm) throws(KeychainError) -> [UInt8] {
        try input.withUnsafeBufferPointer { (pointer) throws(KeychainError) in
            try signature(of: UnsafeRawBufferPointer(pointer), algorithm)
        }
    }

    func decrypted(_ input: [UInt8], _ algorithm: KeyAlgorithm) throws(KeychainError) -> [UInt8] {
        try input.withUnsafeBufferPointer { (pointer) throws(KeychainError) in
            try decrypted(UnsafeRawBufferPointer(pointer), algorithm).bytes
        }
    }
}

extension PublicKey {
    static func read(_ bytes: [UInt8], _ type: KeyType) throws(KeychainError) -> PublicKey {
        try bytes.withUnsafeBufferPointer { (pointer) throws(KeychainError) in
            try PublicKey(external: UnsafeRawBufferPointer(pointer), type: type)
        }
    }

    func isSignature(_ signature: [UInt8], of input: [UInt8], _ algorithm: KeyAlgorithm) throws(KeychainError) -> Bool {
        try signature.withUnsafeBufferPointer { (signature) throws(KeychainError) in
            try input.withUnsafeBufferPointer { (input) throws(KeychainError) in
                try isSignature(UnsafeRawBufferPointer(signature), of: UnsafeRawBufferPointer(input), algorithm)
            }
        }
    }

    func encrypted(_ input: [UInt8], _ algorithm: KeyAlgorithm) throws(KeychainError) -> [UInt8] {
        try input.withUnsafeBufferPointer { (pointer) throws(KeychainError) in
            try encrypted(UnsafeRawBufferPointer(pointer), algorithm)
        }
    }
}

extension SoftwareKey {
    static func read(_ bytes: [UInt8], _ type: KeyType) throws(KeychainError) -> SoftwareKey {
        try bytes.withUnsafeBufferPointer { (pointer) throws(KeychainError) in
            try SoftwareKey(external: UnsafeRawBufferPointer(pointer), type: type)
        }
    }
}

/// The status of a call that fails; 0 where it does not.
func status(_ body: () throws(KeychainError) -> Void) -> Int32 {
    do throws(KeychainError) {
        try body()
        return 0
    } catch {
        return error.status.rawValue
    }
}
