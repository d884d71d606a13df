// SPDX-License-Identifier: Apache-2.0

internal import SecretMemory

/// A keyring in the encrypted format, with a plain header. The bytes must outlive it.
struct EncryptedKeyring {
    static let magic: [UInt8] = Array("GnomeKeyring\n\r\0\n".utf8)

    private let label: String?
    private let times: (UInt64, UInt64)
    private let cipher: KeyringCipher
    private let heads: [Head]
    private let ciphertext: UnsafeRawBufferPointer

    /// The plain part of an item.
    private struct Head {
        let identifier: UInt32
        let kind: UInt32
    }

    /// Reads the header.
    init(_ bytes: UnsafeRawBufferPointer) throws(GnomeKeyringError) {
        var reader = KeyringReader(bytes)
        guard try reader.bytes("magic number", count: Self.magic.count).elementsEqual(Self.magic) else {
            throw .unrecognized
        }
        let version = try reader.bytes("version", count: 4)
        guard version.allSatisfy({ $0 == 0 }) else { throw .unsupported(version: Array(version)) }
        label = try reader.text("name of the keyring")
        times = (try reader.time("time of the keyring"), try reader.time("time of the keyring"))
        // The flags, and after how many seconds the keyring locks itself.
        try reader.skipNumbers(2, "settings")
        let iterations = try reader.number("number of iterations")
        guard (1...KeyringLimits.maxIterations).contains(iterations) else {
            throw .tooManyIterations(count: iterations, max: KeyringLimits.maxIterations)
        }
        cipher = KeyringCipher(salt: try reader.bytes("salt", count: 8), iterations: iterations)
        try reader.skipNumbers(4, "reserved numbers")
        heads = try Self.heads(&reader)
        let count = Int(try reader.number("length of the encrypted part"))
        guard count >= KeyringCipher.digestSize, count.isMultiple(of: KeyringCipher.blockSize) else {
            throw .damaged("its encrypted part has \(count) bytes, expected whole blocks")
        }
        ciphertext = try reader.bytes("encrypted part", count: count)
    }

    func keyring(_ password: SharedSecret) throws(GnomeKeyringError) -> GnomeKeyring {
        let items = try cipher.decrypt(ciphertext, password).withUnsafeBytes {
            (plaintext) throws(GnomeKeyringError) -> [GnomeKeyringItem] in
            var reader = KeyringReader(plaintext)
            var items: [GnomeKeyringItem] = []
            for head in heads { items.append(try Self.item(head, &reader)) }
            return items
        }
        return GnomeKeyring(label: label, times: times, items: items)
    }

    /// Returns the plain parts of the items. Their attributes are hashed here, and ignored.
    private static func heads(_ reader: inout KeyringReader) throws(GnomeKeyringError) -> [Head] {
        var heads: [Head] = []
        let count = try reader.number("number of items")
        for _ in 0..<count {
            heads.append(Head(identifier: try reader.number("identifier"), kind: try reader.number("kind of an item")))
            _ = try attributes(&reader)
        }
        return heads
    }

    private static func item(
        _ head: Head, _ reader: inout KeyringReader
    ) throws(GnomeKeyringError) -> GnomeKeyringItem {
        let label = try reader.text("name of an item")
        let secret = try reader.counted("secret")
        let created = try reader.time("time of an item")
        let modified = try reader.time("time of an item")
        _ = try reader.text("reserved text")
        try reader.skipNumbers(4, "reserved numbers")
        let attributes = try attributes(&reader)
        try skipAccessList(&reader)
        return GnomeKeyringItem(
            identifier: "\(head.identifier)", label: label ?? "",
            secret: SharedSecret(SecretBytes(copying: secret ?? UnsafeRawBufferPointer(start: nil, count: 0))),
            attributes: attributes, created: created, modified: modified, kind: head.kind)
    }

    private static func attributes(
        _ reader: inout KeyringReader
    ) throws(GnomeKeyringError) -> [String: GnomeKeyringItem.Attribute] {
        var attributes: [String: GnomeKeyringItem.Attribute] = [:]
        let count = try reader.number("number of attributes")
        for _ in 0..<count {
            let name = try reader.text("name of an attribute") ?? ""
            switch try reader.number("kind of an attribute") {
            case 0: attributes[name] = .text(try reader.text("value of an attribute") ?? "")
            case 1: attributes[name] = .number(try reader.number("value of an attribute"))
            case let kind: throw .damaged("an attribute has the kind \(kind), expected 0 or 1")
            }
        }
        return attributes
    }

    /// Skips the programs that had access, in gnome-keyring before version 3: nothing uses them any more.
    private static func skipAccessList(_ reader: inout KeyringReader) throws(GnomeKeyringError) {
        let count = try reader.number("number of programs")
        for _ in 0..<count {
            _ = try reader.number("access of a program")
            for _ in 0..<3 { _ = try reader.text("name of a program") }
            _ = try reader.number("reserved number")
        }
    }
}
