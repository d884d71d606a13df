// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
internal import OpenSSLCrypto

/// The content of a constrained row's column `access_constraint`: its constraints, and the shares of its constraint
/// key, each sealed to a public key of the keybag.
///
/// Format: Documentation/Formats/keychain-database.md, "Constraints".
public struct ConstraintRecord: Equatable, Sendable {
    /// The constraints of the item.
    public let constraints: AccessConstraints
    /// The revision of the row when its secret half was sealed.
    public let revision: UInt64
    /// The source of the enrolled set, and 16 bytes that tell whether the set has changed; empty
    /// unless a term requires it.
    let enrolledSetCheck: [UInt8]
    /// How the key of the application password is derived; nil if none is required.
    let password: PasscodeParameters?
    /// The shares of each term, in the order of the terms.
    var shares: [[Share]]

    /// A share of the constraint key that one presence pair opens.
    struct Share: Equatable, Sendable {
        var recipient: PresenceIdentity
        /// HPKE of 32 bytes: 80 bytes.
        var sealed: [UInt8]
    }

    /// The maximum length of a record in bytes.
    static let maxLength = 8192
    /// The length of the value of a share, and of the constraint key, in bytes.
    static let shareLength = 32
    static let checkLength = 17
    private static let version: UInt8 = 1
}

// MARK: Encoding

extension ConstraintRecord {
    /// The bytes of the column.
    public var encoded: [UInt8] {
        var writer = KeybagWriter()
        writeFixed(to: &writer)
        for shares in shares {
            writer.put(UInt8(shares.count))
            for share in shares {
                share.recipient.write(to: &writer)
                writer.put(bytes: share.sealed)
            }
        }
        return writer.bytes
    }

    /// The part without the shares. It changes only when the secret half is sealed again.
    public var fixedPart: [UInt8] {
        var writer = KeybagWriter()
        writeFixed(to: &writer)
        return writer.bytes
    }

    private func writeFixed(to writer: inout KeybagWriter) {
        writer.put(Self.version)
        writer.put(constraints.flags.rawValue)
        writer.put(revision)
        writer.put(Self.required(constraints))
        writer.put(bytes: enrolledSetCheck)
        writer.put(UInt8(password == nil ? 0 : 1))
        if let password {
            writer.put(bytes: password.salt)
            writer.put(password.cost.exponent)
            writer.put(password.cost.blockSize)
            writer.put(password.cost.parallelism)
        }
        writer.put(UInt8(constraints.terms.count))
        for term in constraints.terms { writer.put(term.rawValue) }
    }

    /// The number of terms that must be satisfied.
    private static func required(_ constraints: AccessConstraints) -> UInt8 {
        constraints.threshold == .one ? 1 : UInt8(constraints.terms.count)
    }

    /// Decodes the bytes that ``encoded`` has written.
    ///
    /// - Throws: ``KeybagError/damaged(_:)`` with the field that is wrong.
    public init(decoding bytes: [UInt8]) throws(KeybagError) {
        guard bytes.count <= Self.maxLength else {
            throw .damaged("the constraint has \(bytes.count) bytes, expected at most \(Self.maxLength)")
        }
        var reader = KeybagReader(bytes)
        let version: UInt8 = try reader.number("version of the constraint")
        guard version == Self.version else { throw .damaged("unsupported version \(version) of the constraint") }
        let flags = AccessControlFlags(rawValue: try reader.number("flags"))
        revision = try reader.number("revision of the constraint")
        constraints = try Self.constraints(flags)
        let required: UInt8 = try reader.number("threshold")
        guard required == Self.required(constraints) else {
            throw .damaged(
                "the constraint requires \(required) of \(constraints.terms.count) terms, expected one or all")
        }
        let checkLength = constraints.terms.contains(.biometryCurrentSet) ? Self.checkLength : 0
        enrolledSetCheck = try reader.bytes("check of the enrolled set", counts: checkLength...checkLength)
        if let source = enrolledSetCheck.first, EnrolledSet.Source(rawValue: source) == nil {
            throw .damaged("unknown source \(source) of the enrolled set")
        }
        password = try Self.password(&reader)
        guard (password != nil) == constraints.requiresApplicationPassword else {
            throw .damaged("the constraint must have parameters of an application password if its flags require one")
        }
        let count: UInt8 = try reader.number("number of terms")
        guard count == constraints.terms.count else { throw .damaged("the terms do not match the flags") }
        for term in constraints.terms {
            let code: UInt8 = try reader.number("term")
            guard code == term.rawValue else { throw .damaged("the terms do not match the flags") }
        }
        shares = []
        for term in constraints.terms { shares.append(try Self.shares(of: term, &reader)) }
        guard reader.isAtEnd else { throw .damaged("unexpected bytes after the last share") }
    }

    private static func constraints(_ flags: AccessControlFlags) throws(KeybagError) -> AccessConstraints {
        do {
            if let constraints = try AccessConstraints.parse(flags) { return constraints }
        } catch {
            throw .damaged("the constraint has flags that are not supported")
        }
        throw .damaged("the constraint has no terms")
    }

    private static func password(_ reader: inout KeybagReader) throws(KeybagError) -> PasscodeParameters? {
        let flag: UInt8 = try reader.number("application password flag")
        guard flag <= 1 else { throw .damaged("the application password flag must be 0 or 1, found \(flag)") }
        guard flag == 1 else { return nil }
        let parameters = PasscodeParameters(
            salt: try reader.bytes("salt", counts: PasscodeParameters.saltLengths),
            cost: PasscodeCost(
                exponent: try reader.number("cost"), blockSize: try reader.number("block size"),
                parallelism: try reader.number("parallelism")))
        try parameters.cost.validate()
        return parameters
    }

    private static func shares(of term: AccessConstraint, _ reader: inout KeybagReader) throws(KeybagError) -> [Share] {
        let count: UInt8 = try reader.number("number of shares")
        guard (1...PresencePair.maxCount).contains(Int(count)) else {
            throw .damaged("a term has \(count) shares, expected 1 to \(PresencePair.maxCount)")
        }
        var shares: [Share] = []
        let length = shareLength + HPKE.overhead
        for _ in 0..<count {
            let recipient = try PresenceIdentity(&reader)
            guard recipient.satisfies(term) else { throw .damaged("a share belongs to another kind of presence") }
            shares.append(
                Share(recipient: recipient, sealed: try reader.bytes("share", counts: length...length)))
        }
        guard Set(shares.map(\.recipient)).count == shares.count else { throw .damaged("duplicate share") }
        return shares
    }
}
