// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials
package import KeychainModel

extension WireAuthentication {
    /// nil for a call that says nothing about authentication.
    package init?(_ authentication: Authentication) {
        guard authentication.context != nil || authentication.interaction == .skip else { return nil }
        self.init()
        if let id = authentication.context { context = Data(id.bytes) }
        skips = authentication.interaction == .skip
    }

    package func decode() throws(WireError) -> Authentication {
        try requireKnown(self)
        return Authentication(
            skips ? .skip : .allow, context: hasContext ? try AuthenticationContextID(wire: context) : nil)
    }
}

extension AuthenticationContextID {
    package init(wire bytes: Data) throws(WireError) {
        guard let id = AuthenticationContextID(bytes: Array(bytes)) else {
            throw .malformed("the handle of a context has \(bytes.count) bytes, expected \(Self.length)")
        }
        self = id
    }
}

extension WireTarget {
    package init(_ target: AuthenticationTarget) {
        self.init()
        switch target {
        case .item(let reference): item = Data(reference.bytes)
        case .newItem(let label, let flags):
            var new = WireNewItem()
            new.label = label
            new.accessControlFlags = flags.rawValue
            newItem = new
        case .accessControl(let flags): accessControlFlags = flags.rawValue
        case .policy(let policy): self.policy = policy.rawValue
        }
    }

    package func decode() throws(WireError) -> AuthenticationTarget {
        try requireKnown(self)
        switch target {
        case .item(let bytes)?: return .item(try PersistentReference(wire: bytes))
        case .newItem(let new)?:
            try requireKnown(new)
            try WireTexts.check(new.label, "the label of a new item")
            return .newItem(label: new.label, AccessControlFlags(rawValue: new.accessControlFlags))
        case .accessControlFlags(let flags)?: return .accessControl(AccessControlFlags(rawValue: flags))
        case .policy(let number)?:
            guard let policy = AuthenticationPolicy(rawValue: number) else {
                throw .malformed("unknown policy \(number)")
            }
            return .policy(policy)
        case nil: throw .malformed("an authentication without a target")
        }
    }
}

extension WirePlace {
    package init(_ place: PromptPlace) {
        self.init()
        variables = place.variables.map { variable, value in
            var wire = WirePlaceVariable()
            wire.name = variable.rawValue
            wire.value = value
            return wire
        }
    }

    package func decode() throws(WireError) -> PromptPlace {
        try requireKnown(self)
        guard variables.count <= PromptVariable.allCases.count else {
            throw .malformed("\(variables.count) variables of a place, some of them twice")
        }
        var values: [PromptVariable: String] = [:]
        for variable in variables {
            try requireKnown(variable)
            guard let name = PromptVariable(rawValue: variable.name) else {
                throw .malformed("unknown variable of a place")
            }
            guard variable.value.utf8.count <= name.maxLength else { throw .malformed("\(name.rawValue) is too long") }
            guard values.updateValue(variable.value, forKey: name) == nil else {
                throw .malformed("duplicate variable \(name.rawValue) of a place")
            }
        }
        return PromptPlace(values)
    }
}

/// The limits of texts that a prompt displays.
package enum WireTexts {
    /// Longer than any text that a prompt displays.
    private static let maxLength = 4096

    package static func check(_ text: String, _ name: String) throws(WireError) {
        guard text.utf8.count <= maxLength else {
            throw .malformed("\(name) has \(text.utf8.count) bytes, at most \(maxLength) are allowed")
        }
    }

    /// Shortens a text of this program to the maximum length in a message.
    package static func shortened(_ text: String) -> String {
        guard text.utf8.count > maxLength else { return text }
        var short = ""
        for character in text {
            guard short.utf8.count + character.utf8.count <= maxLength else { break }
            short.append(character)
        }
        return short
    }
}
