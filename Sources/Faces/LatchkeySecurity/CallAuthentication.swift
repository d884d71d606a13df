// SPDX-License-Identifier: Apache-2.0

internal import KeychainModel
internal import LatchkeyClient

/// How one call, and the keys that it returns, satisfy access controls. It retains the caller's
/// authentication context.
struct CallAuthentication: Sendable {
    private let interaction: Authentication.Interaction
    private let reason: String?
    private let source: (any AuthenticationContextSource)?

    /// - Throws: errSecParam if the context is not an `LAContext`.
    init(_ request: AuthenticationRequest) throws(KeychainError) {
        interaction = request.interaction
        reason = request.reason
        source = try request.context.map { (object) throws(KeychainError) in
            guard let source = object as? any AuthenticationContextSource else {
                throw .parameter("kSecUseAuthenticationContext must be an LAContext, found \(type(of: object))")
            }
            return source
        }
    }

    private init(reason: String?, source: (any AuthenticationContextSource)?) {
        interaction = .allow
        self.reason = reason
        self.source = source
    }

    /// The default: the person is asked.
    static let asking = CallAuthentication(reason: nil, source: nil)

    /// How a key that the call returns satisfies its access control each time it is used: with the
    /// context and the reason of the call. Its uses are calls of their own, so that the choice of
    /// kSecUseAuthenticationUI does not apply to them; `LAContext.interactionNotAllowed` does.
    var ofReturnedKeys: CallAuthentication { CallAuthentication(reason: reason, source: source) }

    /// Returns the values for one request to the keychain. The reason of the call takes precedence
    /// over that of the context; each of the two can forbid the prompt.
    ///
    /// - Throws: an error with `AuthenticationFailure.invalidContext` if the context was
    ///   invalidated.
    func values() throws(KeychainError) -> Authentication {
        var values = try source?.authentication() ?? Authentication()
        if interaction != .allow { values.interaction = interaction }
        if let reason { values.reason = reason }
        return values
    }
}
