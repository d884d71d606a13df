// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

/// The data that the keybag keeps of an enrolled security key, so that it can be used again. It is not secret, and is
/// authenticated with the keybag.
public struct SecurityKeyEnrollment: Hashable, Sendable {
    /// The credential in its stored form (Documentation/Formats/security-key.md): 1 to 2048 bytes. The keybag does not
    /// interpret them.
    public let credential: [UInt8]
    /// Whether the device stated at its enrollment that it requires the PIN for every operation (`alwaysUv`). Later
    /// statements must not be used: a hostile device can obtain the PIN in that way.
    public let alwaysVerifies: Bool
    /// The user's name for it: 1 to 128 bytes of UTF-8, without control characters.
    public let name: String
    /// When it was enrolled, in seconds since 2001-01-01.
    public let created: Double

    /// - Throws: ``KeybagError/unusableSecurityKey(_:)`` if a value is not within its limits.
    public init(
        credential: [UInt8], alwaysVerifies: Bool, name: String, created: Double
    ) throws(KeybagError) {
        guard Self.credentialCounts.contains(credential.count) else {
            throw .unusableSecurityKey(
                "its credential has \(credential.count) bytes, expected \(Self.credentialCounts)")
        }
        guard Self.nameCounts.contains(name.utf8.count) else {
            throw .unusableSecurityKey("its name has \(name.utf8.count) bytes, expected \(Self.nameCounts)")
        }
        guard !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw .unusableSecurityKey("its name has a control character")
        }
        guard created.isFinite else { throw .unusableSecurityKey("its date is not finite") }
        self.credential = credential
        self.alwaysVerifies = alwaysVerifies
        self.name = name
        self.created = created
    }

    /// The key's identifier.
    public var identifier: SecurityKeyIdentifier {
        SecurityKeyIdentifier(unchecked: KeybagCryptography.digest(of: credential))
    }

    static let credentialCounts = 1...2048
    static let nameCounts = 1...128
}

/// A security key with its presence pair in the keybag.
public struct EnrolledSecurityKey: Hashable, Sendable {
    public let enrollment: SecurityKeyEnrollment
    /// Whether it also satisfies `userPresence`, and not only `latchkeySecurityKey`.
    public let satisfiesUserPresence: Bool

    public var identifier: SecurityKeyIdentifier { enrollment.identifier }
}

// MARK: Encoding

extension SecurityKeyEnrollment {
    func write(to writer: inout KeybagWriter) {
        writer.put(bytes: credential)
        writer.put(alwaysVerifies)
        writer.put(created.bitPattern)
        writer.put(bytes: Array(name.utf8))
    }

    init(_ reader: inout KeybagReader) throws(KeybagError) {
        let credential = try reader.bytes("credential of a security key", counts: Self.credentialCounts)
        let flags: UInt8 = try reader.number("flags of a security key")
        guard flags <= 1 else { throw .damaged("unknown flags \(flags) of a security key") }
        let created = Double(bitPattern: try reader.number("date of a security key"))
        let nameBytes = try reader.bytes("name of a security key", counts: Self.nameCounts)
        guard let name = String(validating: nameBytes, as: UTF8.self) else {
            throw .damaged("the name of a security key is not UTF-8")
        }
        do {
            try self.init(credential: credential, alwaysVerifies: flags == 1, name: name, created: created)
        } catch {
            guard case .unusableSecurityKey(let reason) = error else { throw error }
            throw .damaged("a security key is not valid: \(reason)")
        }
    }
}
