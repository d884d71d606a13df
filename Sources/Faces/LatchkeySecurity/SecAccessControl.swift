// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import KeychainModel

/// The lock states that allow opening an item, and the conditions that each use must satisfy. Immutable. Two access
/// controls are equal if their protection and their conditions are equal.
///
/// ```swift
/// var error: Unmanaged<CFError>?
/// let control = SecAccessControlCreateWithFlags(
///     nil, kSecAttrAccessibleWhenUnlockedThisDeviceOnly, .userPresence, &error)
/// guard let control else {
///     throw error!.takeRetainedValue() as Error
/// }
/// query[kSecAttrAccessControl as String] = control
/// ```
public final class SecAccessControl: NSObject, Sendable {
    /// A protection code, such as `ak` or `cku`.
    let protection: String
    /// The flags given at creation; nil for an access control that only repeats the protection
    /// class of an item.
    let flags: SecAccessControlCreateFlags?
    /// The required conditions, apart from the application password; nil if there are none.
    let constraints: Constraint?
    /// The requirement of each operation. An absent operation has the requirement of `default`; see
    /// `entry(for:)`.
    let operations: [Operation: Entry]
    /// Whether the item's key is also derived from an application password.
    let requiresPassword: Bool

    /// Whether there is any condition.
    var hasConstraints: Bool {
        constraints != nil || requiresPassword
    }

    /// Returns the requirement of an operation; nil if the operation is refused.
    func entry(for operation: Operation) -> Entry? {
        operations[operation] ?? operations[.default]
    }

    /// Creates an access control by the rules of keychain-behaviour §5.4.
    ///
    /// - Parameter protection: one of `kSecAttrAccessible…`. Apple's private dictionary form is
    ///   refused.
    init(protection: Any?, flags: SecAccessControlCreateFlags) throws(Refusal) {
        self.protection = try Self.checked(protection: protection)
        let flags = try Self.checked(flags: flags)
        self.flags = flags
        constraints = Constraint(flags: flags)
        operations = Self.operations(constraints: constraints, usesPrivateKey: flags.contains(.privateKeyUsage))
        requiresPassword = flags.contains(.applicationPassword)
        super.init()
    }

    /// Creates the access control of an item's attributes: as given when the item was added, or with the protection
    /// class only.
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

    /// Whether the other object stands for the same content.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? SecAccessControl else { return false }
        return protection == other.protection && operations == other.operations
            && requiresPassword == other.requiresPassword
    }

    /// A hash; equal objects have equal hashes.
    public override var hash: Int {
        var hasher = Hasher()
        hasher.combine(protection)
        hasher.combine(operations)
        hasher.combine(requiresPassword)
        return hasher.finalize()
    }

    /// The protection and the operation table, such as
    /// `<SecAccessControl: ak; decrypt: passcode; encrypt: allowed; delete: allowed>`.
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
    /// A condition for the use of an item.
    indirect enum Constraint: Hashable, Sendable {
        /// The device's owner authenticates with any method that the device offers.
        case devicePolicy
        /// The owner's passcode.
        case passcode
        /// Biometry, with any enrollment at the time of use.
        case biometryAny
        /// Biometry, only with the enrollment at the time when the item was stored.
        case biometryCurrentSet
        /// Another device of the owner.
        case companion
        /// An enrolled security key.
        case securityKey
        /// At least this number of the constraints.
        case atLeast(Int, of: [Constraint])
    }

    /// An operation on an item.
    enum Operation: String, CaseIterable, Sendable {
        case decrypt
        case encrypt
        case sign
        case computeKey = "compute key"
        case decapsulate
        case attest
        case delete
        /// Every operation without an entry of its own.
        case `default`
    }

    /// The requirement of one operation.
    enum Entry: Hashable, Sendable {
        case allowed
        case constrained(Constraint)
    }

    /// The reason why no access control was created: the expected and the found value.
    struct Refusal: Error {
        let reason: String
    }
}

extension SecAccessControl.Constraint {
    /// Creates the constraint of one flag. Several flags are all required, or any one of them with
    /// `or`.
    fileprivate init?(flags: SecAccessControlCreateFlags) {
        let table: [(flag: SecAccessControlCreateFlags, constraint: Self)] = [
            (.userPresence, .devicePolicy),
            (.devicePasscode, .passcode),
            (.biometryAny, .biometryAny),
            (.biometryCurrentSet, .biometryCurrentSet),
            (.companion, .companion),
            (.latchkeySecurityKey, .securityKey),
        ]
        let named = table.filter { flags.contains($0.flag) }.map(\.constraint)
        guard let first = named.first else { return nil }
        self = named.count == 1 ? first : .atLeast(flags.contains(.or) ? 1 : named.count, of: named)
    }
}

// MARK: Creation rules

extension SecAccessControl {
    /// The protection classes, and the class that is only for keys of a token
    /// (kSecAttrAccessibleUntilReboot).
    private static let knownProtections = Set(ProtectionClass.allCases.map(\.rawValue) + ["f"])

    private static let knownFlags: SecAccessControlCreateFlags = [
        .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .companion, .or, .and, .privateKeyUsage,
        .applicationPassword, .latchkeySecurityKey,
    ]

    private static func checked(protection: Any?) throws(Refusal) -> String {
        guard let protection else {
            throw Refusal(reason: "the protection is missing; expected a kSecAttrAccessible constant")
        }
        guard let code = protection as? String else {
            throw Refusal(reason: "the protection is a \(type(of: protection)); expected a kSecAttrAccessible constant")
        }
        guard knownProtections.contains(code) else {
            throw Refusal(reason: "the protection \"\(code)\" is not a kSecAttrAccessible constant")
        }
        return code
    }

    private static func checked(flags: SecAccessControlCreateFlags) throws(Refusal) -> SecAccessControlCreateFlags {
        // An unknown flag of a later system is a requirement. Ignoring it would protect the item
        // less than its owner expects.
        let unknown = flags.subtracting(knownFlags)
        guard unknown.isEmpty else { throw Refusal(reason: "unknown flags: 0x\(String(unknown.rawValue, radix: 16))") }
        guard !flags.isSuperset(of: [.or, .and]) else { throw Refusal(reason: "`or` and `and` exclude each other") }
        guard !flags.isSuperset(of: [.biometryAny, .biometryCurrentSet]) else {
            throw Refusal(reason: "`biometryAny` and `biometryCurrentSet` exclude each other")
        }
        guard
            !flags.contains(.userPresence)
                || flags.isSubset(of: [.userPresence, .privateKeyUsage, .applicationPassword])
        else {
            throw Refusal(
                reason: "`userPresence` can be combined only with `privateKeyUsage` and `applicationPassword`")
        }
        return flags
    }

    /// Returns the operation table of section 5.4.
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
        case .securityKey: "security key"
        case .atLeast(let count, let members): "\(count) of (\(members.map(\.description).joined(separator: ", ")))"
        }
    }
}

// MARK: Apple's interface

/// The requirements of a `SecAccessControl`. The bits are Apple's, except that of
/// ``latchkeySecurityKey``.
public struct SecAccessControlCreateFlags: OptionSet, Hashable, Sendable {
    /// The bits of the set, as in Apple's headers.
    public let rawValue: CFOptionFlags

    /// A set from its bits.
    public init(rawValue: CFOptionFlags) {
        self.rawValue = rawValue
    }

    /// The device's owner authenticates by passcode or biometry. Can be combined only with
    /// `privateKeyUsage` and `applicationPassword`.
    public static let userPresence = Self(rawValue: 1 << 0)
    /// Biometry, with any enrollment at the time of use.
    public static let biometryAny = Self(rawValue: 1 << 1)
    /// The older name of ``biometryAny``.
    public static let touchIDAny = biometryAny
    /// Biometry with the current enrollment; the item is lost when the enrollment changes.
    public static let biometryCurrentSet = Self(rawValue: 1 << 3)
    /// The older name of ``biometryCurrentSet``.
    public static let touchIDCurrentSet = biometryCurrentSet
    /// The passcode.
    public static let devicePasscode = Self(rawValue: 1 << 4)
    /// Another device of the owner. Items with this requirement are refused: there is no such device.
    public static let companion = Self(rawValue: 1 << 5)
    /// The older name of ``companion``.
    public static let watch = companion
    /// One of the constraints is sufficient.
    public static let or = Self(rawValue: 1 << 14)
    /// All constraints are required, as they are without this flag.
    public static let and = Self(rawValue: 1 << 15)
    /// The item is a private key: signing and key agreement require the constraints.
    public static let privateKeyUsage = Self(rawValue: 1 << 30)
    /// The item's key is also derived from a password of the program.
    public static let applicationPassword = Self(rawValue: 1 << 31)
    /// A FIDO2 security key that was enrolled with `latchkey security-key enroll`. Not in Apple's headers (they use no
    /// bit above 31): code for Apple's systems must not use it.
    public static let latchkeySecurityKey = Self(rawValue: 1 << 48)
}

/// Creates an access control. On failure returns nil and an error of `NSOSStatusErrorDomain` with
/// the code `errSecParam` and an explanation.
///
/// - Parameters:
///   - allocator: ignored.
///   - protection: one of `kSecAttrAccessible…`.
///   - flags: the requirements. Refused are `or` with `and`, `biometryAny` with
///     `biometryCurrentSet`, `userPresence` with any constraint or with `or` or `and`, and unknown
///     bits.
///   - error: receives the error; nil if it is not wanted.
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

/// Returns the type identifier of `SecAccessControl`, for comparison with `CFGetTypeID`.
@discardableResult
public func SecAccessControlGetTypeID() -> CFTypeID {
    SecAccessControl.typeID
}
