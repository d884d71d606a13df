// SPDX-License-Identifier: Apache-2.0

/// How a call may satisfy the access controls of the items that it concerns
/// (keychain-behaviour §3.9).
public struct Authentication: Sendable, Hashable {
    /// The reaction to an access control that is not satisfied.
    public enum Interaction: UInt8, Sendable {
        /// The person is asked (kSecUseAuthenticationUIAllow).
        case allow = 0
        /// The call fails with errSecInteractionNotAllowed (kSecUseAuthenticationUIFail).
        case fail = 1
        /// A search leaves out the item (kSecUseAuthenticationUISkip).
        case skip = 2
    }

    /// The reaction to an access control that is not satisfied.
    public var interaction: Interaction
    /// All but the interaction; nil for the usual values. Queries are copied often, and most have no
    /// others.
    private var details: Details?

    private final class Details: Sendable {
        let context: AuthenticationContextID?
        let owner: (any AuthenticationContextOwner)?
        let prompt: AuthenticationPrompt

        init(
            _ context: AuthenticationContextID?, _ owner: (any AuthenticationContextOwner)?,
            _ prompt: AuthenticationPrompt
        ) {
            (self.context, self.owner, self.prompt) = (context, owner, prompt)
        }
    }

    /// The context of the evaluations that satisfy access controls; nil for none.
    public var context: AuthenticationContextID? {
        get { details?.context }
        set { details = Details(newValue, owner, prompt) }
    }

    /// Creates the context again if the service has lost it; nil if the call then fails.
    public var owner: (any AuthenticationContextOwner)? {
        get { details?.owner }
        set { details = Details(context, newValue, prompt) }
    }

    /// How the person is asked; without a place, at the place of this process.
    public var prompt: AuthenticationPrompt {
        get { details?.prompt ?? AuthenticationPrompt() }
        set { details = Details(context, owner, newValue) }
    }

    /// Why the program asks, for the prompt; empty for no reason.
    public var reason: String {
        get { details?.prompt.reason ?? "" }
        set { prompt.reason = newValue }
    }

    /// Creates the values of one call; by default the person is asked.
    public init(
        _ interaction: Interaction = .allow, context: AuthenticationContextID? = nil,
        of owner: (any AuthenticationContextOwner)? = nil, reason: String = ""
    ) {
        self.interaction = interaction
        guard context != nil || owner != nil || !reason.isEmpty else { return }
        details = Details(context, owner, AuthenticationPrompt(reason: reason))
    }

    /// Creates the values of one call that asks with the texts of a prompt.
    public init(
        _ interaction: Interaction, context: AuthenticationContextID?, of owner: (any AuthenticationContextOwner)?,
        prompt: AuthenticationPrompt
    ) {
        self.interaction = interaction
        details = Details(context, owner, prompt)
    }

    /// Whether both are satisfied by the same, in the same way; the owner does not matter.
    public static func == (one: Authentication, other: Authentication) -> Bool {
        one.interaction == other.interaction && one.context == other.context && one.prompt == other.prompt
    }

    /// Hashes the properties that ``==(_:_:)`` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(interaction)
        hasher.combine(context)
        hasher.combine(prompt)
    }
}

/// The program's object that owns an authentication context, such as the one behind an `LAContext`.
public protocol AuthenticationContextOwner: AnyObject, Sendable {
    /// Returns the handle of an empty context, in place of a handle that the service does not know: the service was
    /// restarted, or this process is a fork of the process that created the context.
    ///
    /// - Throws: an error with ``AuthenticationFailure/invalidContext`` if the program has ended the
    ///   context.
    func identifier(replacing lost: AuthenticationContextID) throws(KeychainError) -> AuthenticationContextID
}

/// The handle of an authentication context: 16 random bytes. Only the process that created the context can use it.
public struct AuthenticationContextID: Hashable, Sendable {
    /// The 16 bytes.
    public let bytes: [UInt8]

    /// Returns nil unless there are 16 bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.length else { return nil }
        self.bytes = bytes
    }

    /// The length of a handle in bytes.
    public static let length = 16
}

/// The target of an authentication by a person.
public enum AuthenticationTarget: Sendable, Hashable {
    /// An item with an access control that is not satisfied. The service names the item in the prompt.
    case item(PersistentReference)
    /// An item that is to be stored: asks for the new password of its access control.
    ///
    /// - Parameter label: the text that identifies the item to the person.
    case newItem(label: String, AccessControlFlags)
    /// An access control (`LAContext.evaluateAccessControl`).
    case accessControl(AccessControlFlags)
    /// A policy (`LAContext.evaluatePolicy`).
    case policy(AuthenticationPolicy)
}

/// The policies of `LAContext`. The raw values are Apple's, except that of the security key.
public enum AuthenticationPolicy: UInt32, Sendable, CaseIterable {
    /// Biometry only (`deviceOwnerAuthenticationWithBiometrics`).
    case biometry = 1
    /// Biometry or the passcode (`deviceOwnerAuthentication`).
    case owner = 2
    /// An enrolled security key.
    case securityKey = 1001
}

/// How the person is asked.
public struct AuthenticationPrompt: Sendable, Hashable {
    /// Why the program asks; empty for no reason.
    public var reason: String
    /// The text of the button that ends the prompt; nil for the default.
    public var cancelTitle: String?
    /// The text of the choice of the passcode instead of biometry: nil for the default, empty to
    /// offer none.
    public var fallbackTitle: String?
    /// How long ago the person may have been recognized by biometry, in seconds, so that the
    /// question is not asked again; 0 to 300.
    public var reuse: Double
    /// Where the person can be asked.
    public var place: PromptPlace

    /// Creates the values of one prompt.
    public init(
        reason: String = "", cancelTitle: String? = nil, fallbackTitle: String? = nil, reuse: Double = 0,
        place: PromptPlace = .none
    ) {
        self.reason = reason
        self.cancelTitle = cancelTitle
        self.fallbackTitle = fallbackTitle
        self.reuse = reuse
        self.place = place
    }

    /// The longest reuse, in seconds, as Apple's `LATouchIDAuthenticationMaximumAllowableReuseDuration`.
    public static let maxReuse = 300.0
}
