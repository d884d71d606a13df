// SPDX-License-Identifier: Apache-2.0

public import KeychainModel

/// Decides which operations a caller may perform on a keychain that a daemon or a session serves.
/// `make docs` makes a table of all decisions.
///
/// ``Authorizer`` decides the access groups of a caller, and the keybag the open classes. A program that opens the
/// files of a keychain itself is not subject to this policy: it could read the files without Latchkey.
public struct AccessPolicy: Sendable {
    /// How clients reach the keychain.
    public let mode: KeychainStatus.Mode
    /// Whether the clients have proven that they know the passcode.
    public let knowsPasscode: Bool

    public init(mode: KeychainStatus.Mode, knowsPasscode: Bool) {
        self.mode = mode
        self.knowsPasscode = knowsPasscode
    }

    /// Decides on an operation before it starts.
    ///
    /// Administration is for the user. A program in a sandbox may not administer, because the user has restricted it to
    /// its own items. A caller with only claimed groups may not reach attested groups by way of a backup, nor close
    /// them or change their protection.
    ///
    /// - Parameter mayHoldAttestedItems: whether the keychain may hold items of attested groups;
    ///   evaluated only if the decision depends on it.
    public func decision(
        on traits: OperationTraits, by caller: CallerIdentity, mayHoldAttestedItems: @autoclosure () -> Bool
    ) -> AccessDecision {
        if traits.contains(.staysInSession), mode == .session { return .allow }
        if traits.contains(.accessesAllGroups), caller.grade != .attested, mayHoldAttestedItems() {
            return .deny(Self.notAttested)
        }
        if traits.contains(.administers), caller.sandbox != nil { return .deny(Self.sandboxed) }
        return .allow
    }

    /// Decides whether an operation may return or use secrets of these groups, or move items out of
    /// them. The caller has the groups, but the user's own command has every claimed group, and any
    /// program of the user can run it: it needs a session that the passcode has unlocked. The groups of
    /// collections are not those of other programs: every program has them.
    ///
    /// - Parameters:
    ///   - groups: nil for any groups that exist.
    ///   - hasPasscode: whether a passcode is set; evaluated only if the decision depends on it.
    public func decision(
        onSecretsIn groups: [AccessGroup]?, by caller: CallerIdentity,
        hasPasscode: () throws(KeychainError) -> Bool
    ) throws(KeychainError) -> AccessDecision {
        guard mayNeedPasscode(caller), groups?.allSatisfy(\.isOfCollections) != true, try hasPasscode() else {
            return .allow
        }
        return .needsPasscode(Self.secretsOfOthers)
    }

    /// Whether the decision on secrets depends on their groups; if not, it is to allow.
    public func mayNeedPasscode(_ caller: CallerIdentity) -> Bool {
        !knowsPasscode && caller.isUserCommand && caller.grade == .claimed
    }

    /// Whether a restoration by this caller includes the items of attested groups.
    public static func restoresAttestedGroups(_ caller: CallerIdentity) -> Bool { caller.grade == .attested }

    /// Whether the caller gets information about other programs, such as those that gave wrong
    /// passcodes. A program in a sandbox does not.
    public static func reportsOtherPrograms(to caller: CallerIdentity) -> Bool { caller.sandbox == nil }

    /// Returns a readable report of the access groups of a caller, from the facts known about it.
    public static func report(on caller: CallerIdentity, facts: [CallerReport.Fact]) -> CallerReport {
        Authorizer.report(caller, facts: facts)
    }

    // MARK: Reasons

    private static let notAttested = KeychainError(
        .missingEntitlement, "the keychain may hold items of attested groups, and this caller is not attested",
        hint: "use an attested program; /etc/latchkey/entitlements.d lists them")

    private static let sandboxed = KeychainError(
        .missingEntitlement, "a program in a sandbox may use only its own items",
        hint: "run the command outside of the sandbox")

    private static let secretsOfOthers = KeychainError(
        .interactionNotAllowed, "these items belong to other programs: commands can read them only with the passcode",
        hint:
            "give it to the command: latchkey with-passcode -- COMMAND, --passcode-file FILE, or LATCHKEY_PASSCODE_FILE"
    )
}

/// A decision of the ``AccessPolicy``.
public enum AccessDecision: Sendable, Hashable {
    case allow
    /// The caller has no right to the operation: errSecMissingEntitlement.
    case deny(KeychainError)
    /// The caller must give the passcode first: errSecInteractionNotAllowed.
    case needsPasscode(KeychainError)

    /// Throws the reason unless the operation is allowed.
    public func require() throws(KeychainError) {
        switch self {
        case .allow: return
        case .deny(let reason), .needsPasscode(let reason): throw reason
        }
    }
}
