// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import KeychainModel

/// When an item can be read, and what has to be satisfied each time it is used. Immutable; two are equal when they say the same.
///
/// ```swift
/// var error: Unmanaged<CFError>?
/// guard let control = SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, .userPresence, &error) else {
///     throw error!.takeRetainedValue() as Error
/// }
/// query[kSecAttrAccessControl as String] = control
/// ```
public final class SecAccessControl: NSObject, Sendable {
    /// A protection code: `ak`, `cku` and so on.
    let protection: String
    /// The flags it was made with; nil for one that only repeats the protection class of an item.
    let flags: SecAccessControlCreateFlags?
    /// What has to be satisfied, apart from the application password; nil for nothing.
    let constraints: Constraint?
    /// What each operation asks for. One that is missing asks for what `default` does, see `entry(for:)`.
    let operations: [Operation: Entry]
    /// Whether an application password takes part in deriving the item's key.
    let requiresPassword: Bool

    /// Whether anything at all has to be satisfied.
    var hasConstraints: Bool {
        constraints != nil || requiresPassword
    }

    /// What an operation asks for; nil when it is refused.
    func entry(for operation: Operation) -> Entry? {
        operations[operation] ?? operations[.default]
    }

    /// Follows the creation rules of keychain-behaviour §5.4.
    ///
    /// - Parameter protection: one of `kSecAttrAccessible…`. Apple's private dictionary form is refused.
    init(protection: Any?, flags: SecAccessControlCreateFlags) throws(Refusal) {
        self.protection = try Self.checked(protection: protection)
        let flags = try Self.checked(flags: flags)
        self.flags = flags
        constraints = Constraint(flags: flags)
        operations = Self.operations(constraints: constraints, usesPrivateKey: flags.contains(.privateKeyUsage))
        requiresPassword = flags.contains(.applicationPassword)
        super.init()
    }

    /// The access control that an item's attributes carry: what it was added with, or its protection class alone.
    init(of record: ItemRecord) {
        protection = record.protection.rawValue
        let stored = record.accessControlFlags.map { SecAccessControlCreateFlags(rawValue: CFOptionFlags($0.rawValue)) }
        flags = stored
        constraints = stored.flatMap { Constraint(flags: $0) }
        operations =
            stored.map { [constraints] in
                Self.operations(constraints: constraints, usesPrivateKey: $0.contains(.privateKeyUsage))
            } ?? [:]
        requiresPassword = stored?.contains(.applicationPassword) ?? false
        super.init()
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? SecAccessControl else { return false }
        return protection == other.protection && operations == other.operations
            && requiresPassword == other.requiresPassword
    }

    public override var hash: Int {
        var hasher = Hasher()
        hasher.combine(protection)
        hasher.combine(operations)
        hasher.combine(requiresPassword)
        return hasher.finalize()
    }

    /// The protection and the operation table, such as `<SecAccessControl: ak; decrypt: passcode; encrypt: allowed; delete: allowed>`.
    public override var description: String {
        let table = Operation.allCases.compactMap { operation in
            operations[operation].map { "\(operation.rawValue): \($0)" }
        }
        let password = requiresPassword ? ["application password"] : []
        return "<SecAccessControl: \(([protection] + table + password).joined(separator: "; "))>"
    }
}

// MARK: Model

extension SecAccessControl {
    /// What has to be satisfied.
    indirect enum Constraint: Hashable, Sendable {
        /// The device's owner authenticates, by whatever the device offers.
        case devicePolicy
        /// The owner's passcode.
        case passcode
        /// Biometry, with whatever is enrolled when it is used.
        case biometryAny
        /// Biometry, with what was enrolled when the item was stored and nothing else.
        case biometryCurrentSet
        /// Another device of the owner.
        case companion
        /// That many of these.
        case atLeast(Int, of: [Constraint])
    }

    /// What an item is used for.
    enum Operation: String, CaseIterable, Sendable {
        case decrypt
        case encrypt
        case sign
        case computeKey = "compute key"
        case decapsulate
        case attest
        case delete
        /// Every operation that has no entry.
        case `default`
    }

    /// What one operation asks for.
    enum Entry: Hashable, Sendable {
        case allowed
        case constrained(Constraint)
    }

    /// Why no access control was made: a sentence about what was expected and what was found.
    struct Refusal: Error {
        let reason: String
    }
}

extension SecAccessControl.Constraint {
    /// One flag is that constraint; several are all needed, or any one of them with `or`.
    fileprivate init?(flags: SecAccessControlCreateFlags) {
        let table: [(flag: SecAccessControlCreateFlags, constraint: Self)] = [
            (.userPresence, .devicePolicy),
            (.devicePasscode, .passcode),
            (.biometryAny, .biometryAny),
            (.biometryCurrentSet, .biometryCurrentSet),
            (.companion, .companion),
        ]
        let named = table.filter { flags.contains($0.flag) }.map(\.constraint)
        guard let first = named.first else { return nil }
        self = named.count == 1 ? first : .atLeast(flags.contains(.or) ? 1 : named.count, of: named)
    }
}

// MARK: Creation rules

extension SecAccessControl {
    /// The protection classes, with the one that only keys of a token may have (kSecAttrAccessibleUntilReboot).
    private static let knownProtections = Set(ProtectionClass.allCases.map(\.rawValue) + ["f"])

    private static let knownFlags: SecAccessControlCreateFlags = [
        .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .companion, .or, .and, .privateKeyUsage,
        .applicationPassword,
    ]

    private static func checked(protection: Any?) throws(Refusal) -> String {
        guard let protection else {
            throw Refusal(reason: "the protection is missing; expected a kSecAttrAccessible constant")
        }
        guard let code = protection as? String else {
            throw Refusal(reason: "the protection is a \(type(of: protection)); expected a kSecAttrAccessible constant")
        }
        guard knownProtections.contains(code) else {
            throw Refusal(reason: "the protection \"\(code)\" is no kSecAttrAccessible constant")
        }
        return code
    }

    private static func checked(flags: SecAccessControlCreateFlags) throws(Refusal) -> SecAccessControlCreateFlags {
        // A flag of a later system asks for something. To leave it out would protect the item less than its owner believes.
        let unknown = flags.subtracting(knownFlags)
        guard unknown.isEmpty else { throw Refusal(reason: "unknown flags: 0x\(String(unknown.rawValue, radix: 16))") }
        guard !flags.isSuperset(of: [.or, .and]) else { throw Refusal(reason: "the flags say both `or` and `and`") }
        guard !flags.isSuperset(of: [.biometryAny, .biometryCurrentSet]) else {
            throw Refusal(reason: "the flags say both `biometryAny` and `biometryCurrentSet`")
        }
        guard
            !flags.contains(.userPresence)
                || flags.isSubset(of: [.userPresence, .privateKeyUsage, .applicationPassword])
        else {
            throw Refusal(reason: "`userPresence` goes together with `privateKeyUsage` and `applicationPassword` only")
        }
        return flags
    }

    /// The operation table of section 5.4.
    private static func operations(constraints: Constraint?, usesPrivateKey: Bool) -> [Operation: Entry] {
        let entry = constraints.map { Entry.constrained($0) } ?? .allowed
        if usesPrivateKey {
            return [.sign: entry, .computeKey: entry, .decapsulate: entry, .attest: .allowed, .delete: .allowed]
        }
        return constraints == nil ? [.default: .allowed] : [.decrypt: entry, .encrypt: .allowed, .delete: .allowed]
    }
}

// MARK: Descriptions

extension SecAccessControl.Entry: CustomStringConvertible {
    var description: String {
        switch self {
        case .allowed: "allowed"
        case .constrained(let constraint): constraint.description
        }
    }
}

extension SecAccessControl.Constraint: CustomStringConvertible {
    var description: String {
        switch self {
        case .devicePolicy: "user presence"
        case .passcode: "passcode"
        case .biometryAny: "any biometry"
        case .biometryCurrentSet: "current biometry"
        case .companion: "companion"
        case .atLeast(let count, let members): "\(count) of (\(members.map(\.description).joined(separator: ", ")))"
        }
    }
}

// MARK: Apple's interface

/// What a `SecAccessControl` is to ask for. The bits are Apple's.
public struct SecAccessControlCreateFlags: OptionSet, Hashable, Sendable {
    public let rawValue: CFOptionFlags

    public init(rawValue: CFOptionFlags) {
        self.rawValue = rawValue
    }

    /// The device's owner authenticates, by passcode or biometry. Combines with `privateKeyUsage` and `applicationPassword` only.
    public static let userPresence = Self(rawValue: 1 << 0)
    /// Biometry; survives changes of what is enrolled.
    public static let biometryAny = Self(rawValue: 1 << 1)
    public static let touchIDAny = biometryAny
    /// Biometry with what is enrolled now; the item is lost when that changes.
    public static let biometryCurrentSet = Self(rawValue: 1 << 3)
    public static let touchIDCurrentSet = biometryCurrentSet
    /// The passcode.
    public static let devicePasscode = Self(rawValue: 1 << 4)
    /// Another device of the owner.
    public static let companion = Self(rawValue: 1 << 5)
    public static let watch = companion
    /// One of the constraints is enough.
    public static let or = Self(rawValue: 1 << 14)
    /// All constraints are needed, which is also so without this flag.
    public static let and = Self(rawValue: 1 << 15)
    /// The item is a private key: signing and key agreement ask for the constraints.
    public static let privateKeyUsage = Self(rawValue: 1 << 30)
    /// A password of the program's own takes part in deriving the item's key.
    public static let applicationPassword = Self(rawValue: 1 << 31)
}

/// Makes an access control, or gives nil and an error of `NSOSStatusErrorDomain` with the code `errSecParam` that says what is wrong.
///
/// - Parameters:
///   - protection: one of `kSecAttrAccessible…`.
///   - flags: what to ask for. Refused are `or` with `and`, `biometryAny` with `biometryCurrentSet`, `userPresence` with any constraint or
///     with `or` or `and`, and unknown bits.
@discardableResult
public func SecAccessControlCreateWithFlags(
    _ allocator: CFAllocator?,
    _ protection: Any?,
    _ flags: SecAccessControlCreateFlags,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecAccessControl? {
    do {
        return try SecAccessControl(protection: protection, flags: flags)
    } catch let refusal {
        let parameterError = NSError(
            domain: NSOSStatusErrorDomain,
            code: Int(errSecParam),
            userInfo: [NSLocalizedDescriptionKey: "SecAccessControl: \(refusal.reason)"]
        )
        error?.pointee = .passRetained(parameterError)
        return nil
    }
}

extension SecAccessControl: CoreFoundationType {
    static var typeID: CFTypeID { TypeIdentifier.accessControl.rawValue }
}

/// What `CFGetTypeID` gives for a `SecAccessControl`.
@discardableResult
public func SecAccessControlGetTypeID() -> CFTypeID {
    SecAccessControl.typeID
}
