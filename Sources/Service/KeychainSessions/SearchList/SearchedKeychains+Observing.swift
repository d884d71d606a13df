// SPDX-License-Identifier: Apache-2.0

package import KeychainModel
internal import LatchkeyOperations
internal import LinuxSystem

extension SearchedKeychains {
    /// The lock of the default keychain.
    package func addLockObserver(reportsPresent: Bool, _ body: @escaping @Sendable (LockState?) -> Void) -> Int {
        guard let primary = try? primary else {
            // No later change of it can be seen.
            body(nil)
            return 0
        }
        return primary.addLockObserver(reportsPresent: reportsPresent, body)
    }

    package func removeLockObserver(_ number: Int) { (try? primary)?.removeLockObserver(number) }

    /// Observes the searched keychains and the default one. The end of the default one is the end.
    package func addChangeObserver(
        _ body: @escaping @Sendable (KeychainChangeEvent) -> Void
    ) throws(KeychainError) -> Int {
        var parts = [ObservedKeychain(keychain: try primary, number: try primary.addChangeObserver(body))]
        for keychain in others {
            // One that cannot be observed is one that cannot be searched, either.
            let number = try? keychain.addChangeObserver { event in
                if case .changed = event { body(event) }
            }
            if let number { parts.append(ObservedKeychain(keychain: keychain, number: number)) }
        }
        return changeObservers.add(parts)
    }

    package func removeChangeObserver(_ number: Int) {
        for part in changeObservers.remove(number) { part.keychain.removeChangeObserver(part.number) }
    }
}

/// An observer of one keychain of several.
struct ObservedKeychain: Sendable {
    let keychain: any KeychainService
    /// Its number in that keychain.
    let number: Int
}

/// The observers of several keychains, under one number each.
struct ObservedKeychains: ~Copyable, Sendable {
    private let state = SystemMutex<(next: Int, parts: [Int: [ObservedKeychain]])>((0, [:]))

    func add(_ parts: [ObservedKeychain]) -> Int {
        state.withLock { state in
            state.next += 1
            state.parts[state.next] = parts
            return state.next
        }
    }

    func remove(_ number: Int) -> [ObservedKeychain] { state.withLock { $0.parts.removeValue(forKey: number) ?? [] } }
}
