// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting

/// A file with one planted secret, or without any.
struct PlantedFile {
    /// The kind of the secret and of the place, such as "password in a property list".
    let kind: String
    let name: String
    let bytes: [UInt8]
    /// The kinds of findings that name the secret.
    let expected: Set<String>
    var log: [UInt8] = []
}

/// Files with planted secrets in the formats that programs write, from a seed.
struct PlantedCorpus {
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// Returns `count` files, with each kind about as often as the others.
    mutating func files(_ count: Int) -> [PlantedFile] {
        (0..<count).map { index in
            let makers = Self.makers
            return makers[index % makers.count](&self)
        }
    }

    static var kinds: Int { makers.count }

    typealias Maker = @Sendable (inout PlantedCorpus) -> PlantedFile

    private static let makers: [Maker] = PairFormat.all.map(maker) + TokenShape.all.map(maker) + keys

    private static func maker(_ format: PairFormat) -> Maker {
        { corpus in corpus.pair(format, corpus.pick(passwordNames), corpus.password()) }
    }

    private static func maker(_ shape: TokenShape) -> Maker { { $0.token(shape) } }

    // MARK: Values

    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: elements.indices, using: &random)]
    }

    mutating func text(_ alphabet: String, _ count: Int) -> String {
        let characters = Array(alphabet)
        return String((0..<count).map { _ in characters[Int.random(in: characters.indices, using: &random)] })
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }

    static let digits = "0123456789"
    static let lower = "abcdefghijklmnopqrstuvwxyz"
    static let upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    static let alphanumeric = digits + lower + upper
    static let hexadecimal = "0123456789abcdef"

    static let passwordNames = [
        "password", "db_password", "DB_PASSWORD", "smtpPassword", "passphrase", "admin.password", "client_secret",
        "API_KEY", "apiKey",
        "secret_key", "access-token", "authToken", "MYSQL_ROOT_PASSWORD", "redis_passwd", "encryptionKey",
        "signing_key", "webhookSecret",
        "user_pwd", "ftp_pass", "JWT_SECRET",
    ]

    /// A password of a person or of a generator.
    mutating func password() -> String {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: text(Self.alphanumeric, Int.random(in: 16...32, using: &random))
        case 1: text(Self.hexadecimal, 32)
        case 2:
            text(Self.alphanumeric, 6) + pick(["-", ".", "!", "+"]) + text(Self.alphanumeric, 8) + text(Self.digits, 2)
        default:
            pick(["Harbour", "granite", "Velvet", "copper", "Lantern", "juniper"]) + pick(["-", "_", ""])
                + text(Self.lower, 6) + text(Self.digits, 3)
        }
    }

    // MARK: Files

    private mutating func pair(_ format: PairFormat, _ name: String, _ value: String) -> PlantedFile {
        let file = format.write(name, value, &self)
        return PlantedFile(
            kind: "named value: \(format.title)", name: file.name, bytes: file.bytes,
            expected: [
                "named-value", "command-argument", "connection-password", "password-file", "authorization-header",
            ], log: file.log)
    }

    private mutating func token(_ shape: TokenShape) -> PlantedFile {
        let token = shape.write(&self)
        let format = pick(PairFormat.all.filter(\.holdsTokens))
        let file = format.write(pick(["value", "github", "endpoint", "x", "token"]), token, &self)
        return PlantedFile(
            kind: "token: \(shape.kind)", name: file.name, bytes: file.bytes, expected: [shape.kind], log: file.log)
    }
}
