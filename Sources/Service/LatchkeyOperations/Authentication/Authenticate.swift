// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// Asks the person for the factors that a target requires, in a context of the caller's process.
package struct Authenticate: KeychainOperation {
    package let target: AuthenticationTarget
    package let context: AuthenticationContextID
    package let prompt: AuthenticationPrompt

    package init(
        for target: AuthenticationTarget, in context: AuthenticationContextID, prompt: AuthenticationPrompt
    ) {
        self.target = target
        self.context = context
        self.prompt = prompt
    }

    package static let traits: OperationTraits = .accessesItems

    package var audit: AuditDetails? {
        var itemClass: ItemClass?
        if case .item(let reference) = target { itemClass = reference.itemClass }
        return AuditDetails("authenticate", itemClass: itemClass, promptsForPasscode: true)
    }

    /// The item of a target is in any keychain. For other targets, the default one asks.
    package var reach: OperationReach {
        if case .item = target { .searchList } else { .defaultKeychain }
    }

    package var promptPlace: PromptPlace? { prompt.place }

    package func placed(at place: () -> PromptPlace) -> Authenticate {
        Authenticate(for: target, in: context, prompt: prompt.placed(at: place))
    }

    package func run(in context: some OperationContext) throws(KeychainError) -> Done {
        let (service, caller) = (try context.service, context.caller)
        try context.evaluating { (host) throws(KeychainError) in
            try service.contexts.authenticate(for: target, in: self.context, prompt: prompt, from: caller, host: host)
        }
        return Done()
    }
}

extension OperationPerformer {
    /// Asks the person for the factors that the target requires and the context lacks.
    ///
    /// - Throws: an error with an ``AuthenticationFailure`` if the authentication does not succeed;
    ///   errSecItemNotFound if the target is an item that does not exist.
    package func authenticate(
        for target: AuthenticationTarget, in context: AuthenticationContextID, prompt: AuthenticationPrompt
    ) throws(KeychainError) {
        _ = try perform(Authenticate(for: target, in: context, prompt: prompt))
    }
}

extension AuthenticationPrompt {
    /// Returns the prompt at its own place; without one, at that of the caller.
    func placed(at place: () -> PromptPlace) -> AuthenticationPrompt {
        guard self.place == .none else { return self }
        var prompt = self
        prompt.place = place()
        return prompt
    }
}

// MARK: Coding

extension Authenticate {
    init(_ wire: WireAuthenticate) throws(WireError) {
        try requireKnown(wire)
        target = try wire.target.decode()
        context = try AuthenticationContextID(wire: wire.context)
        try WireTexts.check(wire.reason, "the reason of a prompt")
        try WireTexts.check(wire.cancelTitle, "the title of a button")
        try WireTexts.check(wire.fallbackTitle, "the title of a button")
        guard (0...AuthenticationPrompt.maxReuse).contains(wire.reuse) else {
            throw .malformed("a reuse must be 0 to \(AuthenticationPrompt.maxReuse) seconds")
        }
        prompt = AuthenticationPrompt(
            reason: wire.reason, cancelTitle: wire.hasCancelTitle ? wire.cancelTitle : nil,
            fallbackTitle: wire.hasFallbackTitle ? wire.fallbackTitle : nil, reuse: wire.reuse,
            place: try wire.place.decode())
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        var wire = WireAuthenticate()
        wire.context = Data(context.bytes)
        wire.target = WireTarget(target)
        wire.reason = WireTexts.shortened(prompt.reason)
        if let title = prompt.cancelTitle { wire.cancelTitle = WireTexts.shortened(title) }
        if let title = prompt.fallbackTitle { wire.fallbackTitle = WireTexts.shortened(title) }
        wire.reuse = min(max(prompt.reuse, 0), AuthenticationPrompt.maxReuse)
        wire.place = WirePlace(prompt.place)
        return .authenticate(wire)
    }
}
