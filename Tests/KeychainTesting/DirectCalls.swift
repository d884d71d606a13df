// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
package import LatchkeyOperations
package import LatchkeyService

/// The operations of a service as one caller, without a question to the person.
package struct DirectCalls: OperationPerformer {
    private let service: any KeychainService
    private let caller: CallerIdentity

    fileprivate init(_ service: any KeychainService, _ caller: CallerIdentity) {
        (self.service, self.caller) = (service, caller)
    }

    package func perform<Operation: KeychainOperation>(
        _ operation: Operation, _ exchange: Exchange
    ) throws(KeychainError) -> Operation.Answer {
        try service.perform(operation, from: caller, exchange)
    }
}

extension KeychainService {
    package func by(_ caller: CallerIdentity) -> DirectCalls { DirectCalls(self, caller) }

    /// The operations as the user's own command, for calls about the whole keychain.
    package var administrator: DirectCalls {
        by(CallerIdentity(executable: "/usr/bin/latchkey", isUserCommand: true))
    }
}

// Results without items, as the status that SecItem has for them.

extension ItemMatches {
    /// - Throws: errSecItemNotFound if there are none, not even damaged or locked ones.
    package func required() throws(KeychainError) -> ItemMatches {
        guard !isEmpty || !locked.isEmpty else { throw .itemNotFound }
        return self
    }
}

extension Int {
    /// - Throws: errSecItemNotFound for 0.
    @discardableResult
    package func required() throws(KeychainError) -> Int {
        guard self > 0 else { throw .itemNotFound }
        return self
    }
}
