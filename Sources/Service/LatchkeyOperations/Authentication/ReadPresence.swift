// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import KeychainModel
package import LatchkeyProtocol
package import LatchkeyService
internal import Presence

/// Returns how the person can be asked at the place of the caller.
package struct ReadPresence: KeychainOperation {
    package let place: PromptPlace

    package init(at place: PromptPlace) { self.place = place }

    package static let traits: OperationTraits = .worksWithoutLog

    package var audit: AuditDetails? { nil }

    package var promptPlace: PromptPlace? { place }

    package func placed(at place: () -> PromptPlace) -> ReadPresence {
        self.place == .none ? ReadPresence(at: place()) : self
    }

    package func run(in context: some OperationContext) throws(KeychainError) -> PresenceStatus {
        try context.service.contexts.presenceStatus(at: place, from: context.caller)
    }
}

extension PresenceStatus: ResponseContent {
    /// An agent that can be started counts as one that runs.
    package func countingAgent(_ canStart: () -> Bool) -> PresenceStatus {
        let noAgent = PresenceUnavailability.noAgent.problem
        guard methods.contains(where: { $0.problem == noAgent }), canStart() else { return self }
        var status = self
        status.methods = methods.map { method in
            var method = method
            if method.problem == noAgent { (method.problem, method.hint) = (nil, nil) }
            return method
        }
        return status
    }
}

extension OperationPerformer {
    /// Returns how the person can be asked at a place, by default that of the caller. It displays nothing.
    package func presenceStatus(at place: PromptPlace = .none) throws(KeychainError) -> PresenceStatus {
        try perform(ReadPresence(at: place))
    }
}

// MARK: Coding

extension ReadPresence {
    init(_ wire: WirePlace) throws(WireError) { place = try wire.decode() }

    package func encoded(_ secrets: inout SecretCollector) -> WireRequest.OneOf_Operation {
        .presence(WirePlace(place))
    }
}

extension PresenceStatus {
    init(_ wire: WirePresenceStatus) throws(WireError) {
        try requireKnown(wire)
        guard let code = UInt8(exactly: wire.biometry), let biometry = Biometry(rawValue: code) else {
            throw .malformed("unknown state \(wire.biometry) of biometry")
        }
        var set: EnrolledSet?
        if wire.hasEnrolledSet {
            let source = wire.enrolledSet.first.flatMap(EnrolledSet.Source.init)
            set = source.flatMap { EnrolledSet(digest: Array(wire.enrolledSet.dropFirst()), source: $0) }
            guard set != nil else { throw .malformed("an enrolled set of \(wire.enrolledSet.count) bytes") }
        }
        var methods: [Method] = []
        for method in wire.methods {
            try requireKnown(method)
            methods.append(
                Method(
                    name: method.name, factors: method.factors, problem: method.hasProblem ? method.problem : nil,
                    hint: method.hasHint ? method.hint : nil))
        }
        self.init(
            methods: methods, hasPasscode: wire.hasPasscode_p, biometry: biometry, enrolledSet: set,
            securityKeys: Int(wire.securityKeys))
    }

    package func encoded(_ secrets: inout SecretCollector) -> WireResponse.OneOf_Content {
        var wire = WirePresenceStatus()
        wire.methods = methods.map { method in
            var own = WirePresenceMethod()
            own.name = method.name
            own.factors = method.factors
            if let problem = method.problem { own.problem = problem }
            if let hint = method.hint { own.hint = hint }
            return own
        }
        wire.hasPasscode_p = hasPasscode
        wire.biometry = UInt32(biometry.rawValue)
        if let enrolledSet { wire.enrolledSet = Data([enrolledSet.source.rawValue] + enrolledSet.digest) }
        wire.securityKeys = UInt32(clamping: securityKeys)
        return .presence(wire)
    }
}
