// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService
package import SecretMemory

/// Enrolls the connected security key. The person touches it.
package struct EnrollSecurityKey: KeychainOperation {
    package let enrollment: SecurityKeyRequest
    package let passcode: SharedSecret
    package let prompt: AuthenticationPrompt

    package init(_ enrollment: SecurityKeyRequest, passcode: SharedSecret, prompt: AuthenticationPrompt) {
        self.enrollment = enrollment
        self.passcode = passcode
        self.prompt = prompt
    }

    package static let traits: OperationTraits = [.changes, .administers, .accessesAllGroups]

    package var audit: AuditDetails? { AuditDetails("enroll-security-key", includesPasscode: true) }

    package var promptPlace: PromptPlace? { prompt.place }

    package func placed(at place: () -> PromptPlace) -> EnrollSecurityKey {
        EnrollSecurityKey(enrollment, passcode: passcode, prompt: prompt.placed(at: place))
    }

    package func run(in context: some OperationContext) throws(KeychainError) -> SecurityKeyInfo {
        let (service, caller) = (try context.service, context.caller)
        return try context.evaluating { (host) throws(KeychainError) in
            try service.securityKeys.enroll(enrollment, passcode: passcode, prompt: prompt, from: caller, host: host)
        }
    }
}

extension SecurityKeyInfo: ResponseContent {}

extension OperationPerformer {
    /// Enrolls the connected security key that is not enrolled yet: the person is asked for its PIN,
    /// if it has one, and touches it twice.
    ///
    /// If a security key that is enrolled already is connected as well, the person touches it first:
    /// items that only it opens are then sealed to the new one.
    ///
    /// - Parameter passcode: is checked first, before the person is asked.
    /// - Throws: errSecDuplicateItem if the device, or a device of this name, is enrolled;
    ///   errSecParam for a name that is not valid, if `SecurityKeyInfo.maxCount` keys are
    ///   enrolled, or if several new devices are connected; an error with an
    ///   ``AuthenticationFailure`` if no device is connected, or if the person does not touch it.
    package func enrollSecurityKey(
        _ enrollment: SecurityKeyRequest, passcode: SharedSecret, prompt: AuthenticationPrompt = AuthenticationPrompt()
    ) throws(KeychainError) -> SecurityKeyInfo {
        try perform(EnrollSecurityKey(enrollment, passcode: passcode, prompt: prompt))
    }
}

// MARK: Coding

extension EnrollSecurityKey {
    init(_ wire: WireEnrollSecurityKey, _ secrets: inout SecretTable) throws(WireError) {
        try requireKnown(wire)
        try WireTexts.check(wire.name, "the name of a security key")
        try WireTexts.check(wire.reason, "the reason of a prompt")
        enrollment = SecurityKeyRequest(name: wire.name, satisfiesUserPresence: wire.satisfiesUserPresence)
        passcode = try secrets.take(wire.passcode)
        prompt = AuthenticationPrompt(reason: wire.reason, place: try wire.place.decode())
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        var wire = WireEnrollSecurityKey()
        // A longer name is refused, shortened or not.
        wire.name = WireTexts.shortened(enrollment.name)
        wire.satisfiesUserPresence = enrollment.satisfiesUserPresence
        wire.passcode = secrets.append(passcode)
        wire.reason = WireTexts.shortened(prompt.reason)
        wire.place = WirePlace(prompt.place)
        return .enrollSecurityKey(wire)
    }
}

extension SecurityKeyInfo {
    init(_ wire: WireSecurityKey) throws(WireError) {
        try requireKnown(wire)
        try WireTexts.check(wire.name, "the name of a security key")
        guard wire.created.isFinite else { throw .malformed("the date of a security key is not finite") }
        self.init(
            identifier: try SecurityKeyIdentifier(wire: wire.identifier), name: wire.name, created: wire.created,
            satisfiesUserPresence: wire.satisfiesUserPresence)
    }

    var wire: WireSecurityKey {
        var wire = WireSecurityKey()
        wire.identifier = Data(identifier.bytes)
        wire.name = name
        wire.created = created
        wire.satisfiesUserPresence = satisfiesUserPresence
        return wire
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireResponse.OneOf_Content { .securityKey(wire) }
}

extension SecurityKeyIdentifier {
    init(wire bytes: Data) throws(WireError) {
        guard let identifier = SecurityKeyIdentifier(bytes: Array(bytes)) else {
            throw .malformed("the identifier of a security key has \(bytes.count) bytes, expected \(Self.length)")
        }
        self = identifier
    }
}
