// SPDX-License-Identifier: Apache-2.0

internal import Keybag
internal import KeychainModel
internal import LinuxSystem

/// The keys of application passwords that one access to the database lacks.
///
/// An access derives nothing, because scrypt takes time and memory, and other callers wait for the connection or the
/// transaction. It collects the missing keys, and is repeated when they are derived:
/// ``KeychainStore/afterDerivations(_:)``.
final class PendingDerivations {
    private(set) var derivations: [PendingDerivation] = []

    var isEmpty: Bool { derivations.isEmpty }
    /// Whether there are more than one call may derive, so that looking for others is of no use.
    var isTooMany: Bool { derivations.count > Self.maxCount }

    func insert(_ derivation: PendingDerivation) {
        guard !isTooMany, !derivations.contains(derivation) else { return }
        derivations.append(derivation)
    }

    /// The maximum number of derivations for one call.
    static let maxCount = 16
}

extension KeychainStore {
    /// Runs an access to the database, and repeats it after the keys are derived that it lacked.
    /// The result and the error of an access that lacked a key are discarded; one that writes must
    /// roll back.
    ///
    /// - Throws: ``StoreError/tooManyDerivations(max:)``; ``StoreError/cancelled``, between two
    ///   derivations.
    func afterDerivations<Result>(
        _ access: (PendingDerivations) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        var budget = PendingDerivations.maxCount
        while true {
            let pending = PendingDerivations()
            do throws(StoreError) {
                let result = try access(pending)
                if pending.isEmpty { return result }
            } catch {
                if pending.isEmpty { throw error }
            }
            try Self.derive(pending.derivations, &budget)
        }
    }

    /// Derives the key to store items with an application password, before the transaction that stores them.
    func deriveSealingKey(for records: [ItemRecord], _ binding: ConstraintBinding?) throws(StoreError) {
        guard let derivation = binding?.applicationPassword?.pendingSealing,
            records.contains(where: { $0.accessControlFlags?.contains(.applicationPassword) == true })
        else { return }
        var budget = 1
        try Self.derive([derivation], &budget)
    }

    private static func derive(_ derivations: [PendingDerivation], _ budget: inout Int) throws(StoreError) {
        guard derivations.count <= budget else { throw .tooManyDerivations(max: PendingDerivations.maxCount) }
        for derivation in derivations {
            guard !Cancellation.isCancelled else { throw .cancelled }
            do throws(KeybagError) {
                try derivation.run()
            } catch {
                throw .keybag(error)
            }
            budget -= 1
        }
    }
}
