// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService

/// The client's first request of a connection. The daemon answers it when the connection starts;
/// later it is refused.
package struct Hello: KeychainOperation, Equatable {
    package var version: UInt32
    /// The program's statement about itself.
    package var claim: CallerIdentity
    /// The user's keychain that the connection is for; nil for those of the search list.
    package var keychain: KeychainName?

    package init(
        version: UInt32 = WireVersion.current, claim: CallerIdentity, keychain: KeychainName? = nil
    ) {
        self.version = version
        self.claim = claim
        self.keychain = keychain
    }

    package static let traits: OperationTraits = .worksWithoutLog
    package var audit: AuditDetails? { nil }

    package func run(in context: some OperationContext) throws(KeychainError) -> Welcome {
        throw KeychainError(.param, "unexpected request: a connection starts with one hello")
    }
}

/// The daemon's response to a ``Hello``.
package struct Welcome: ResponseContent, Equatable {
    package var version: UInt32
    /// 16 random bytes, different after each start of the daemon.
    package var instance: [UInt8]
    package var mode: KeychainStatus.Mode
    package var dataDirectory: String
    package var stateDirectory: String

    package init(
        version: UInt32 = WireVersion.current, instance: [UInt8], mode: KeychainStatus.Mode, dataDirectory: String,
        stateDirectory: String
    ) {
        self.version = version
        self.instance = instance
        self.mode = mode
        self.dataDirectory = dataDirectory
        self.stateDirectory = stateDirectory
    }
}

// MARK: Coding

extension Hello {
    init(_ wire: WireHello) throws(WireError) {
        // Check the version first: a newer client may send fields that are unknown here.
        guard wire.version == WireVersion.current else { throw .version(wire.version) }
        try requireKnown(wire)
        guard wire.hasIdentity_p || wire.groups.isEmpty else { throw .malformed("groups without a declared identity") }
        guard wire.executable.utf8.count <= WireNames.maxPathLength else {
            throw .malformed("the path of a program is too long")
        }
        guard wire.groups.count <= WireNames.maxCount else {
            throw .malformed("a program declares \(wire.groups.count) groups")
        }
        for group in wire.groups { try WireNames.check(group) }
        let keychain = wire.hasKeychain ? try KeychainName(wire: wire.keychain) : nil
        self.init(
            version: wire.version,
            claim: CallerIdentity(
                executable: wire.executable, declaredGroups: wire.hasIdentity_p ? wire.groups : nil,
                isUserCommand: wire.isUserCommand), keychain: keychain)
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        var wire = WireHello()
        wire.version = version
        wire.executable = claim.executable
        wire.isUserCommand = claim.isUserCommand
        wire.hasIdentity_p = claim.declaredGroups != nil
        wire.groups = claim.declaredGroups ?? []
        if let keychain { wire.keychain = keychain.text }
        return .hello(wire)
    }
}

extension KeychainName {
    init(wire text: String) throws(WireError) {
        guard let name = KeychainName(text), name.text == text else {
            throw .malformed("the name of a keychain is invalid")
        }
        self = name
    }
}

extension Welcome {
    init(_ wire: WireWelcome) throws(WireError) {
        guard wire.version == WireVersion.current else { throw .version(wire.version) }
        try requireKnown(wire)
        guard wire.instance.count == 16 else { throw .malformed("an instance has \(wire.instance.count) bytes") }
        let modes: [UInt32: KeychainStatus.Mode] = [1: .user, 2: .system, 3: .session]
        guard let mode = modes[wire.mode] else { throw .malformed("unknown mode \(wire.mode)") }
        self.init(
            version: wire.version, instance: Array(wire.instance), mode: mode, dataDirectory: wire.dataDirectory,
            stateDirectory: wire.stateDirectory)
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireResponse.OneOf_Content {
        var wire = WireWelcome()
        wire.version = version
        wire.instance = Data(instance)
        wire.mode = mode == .user ? 1 : mode == .system ? 2 : 3
        wire.dataDirectory = dataDirectory
        wire.stateDirectory = stateDirectory
        return .welcome(wire)
    }
}
