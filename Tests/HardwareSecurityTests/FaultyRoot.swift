// SPDX-License-Identifier: Apache-2.0

import Keybag
import KeychainModel
import SecretMemory
import Synchronization

/// A root that fails where the test says so.
final class FaultyRoot: HardwareRoot {
    enum Operation: Hashable, CaseIterable {
        case describe, seal, unseal, sealPIN, unsealPIN, createCounter, value, increment, remove
    }

    private let root: any HardwareRoot
    private let failing = Mutex<Set<Operation>>([])
    private let counts = Mutex<[Operation: Int]>([:])

    init(_ root: any HardwareRoot) { self.root = root }

    func fail(_ operations: Set<Operation>) { failing.withLock { $0 = operations } }

    private let hook = Mutex<(@Sendable () -> Void)?>(nil)

    /// Calls a function during the next verification of a passcode.
    func duringUnseal(_ body: @escaping @Sendable () -> Void) { hook.withLock { $0 = body } }

    /// How often an operation was called.
    func count(_ operation: Operation) -> Int { counts.withLock { $0[operation] ?? 0 } }

    private func check(_ operation: Operation) throws(KeychainError) {
        counts.withLock { $0[operation, default: 0] += 1 }
        if failing.withLock({ $0.contains(operation) }) { throw KeychainError(.notAvailable, "the test fails this") }
    }

    func prepare() { root.prepare() }

    func describe() throws(KeychainError) -> String {
        try check(.describe)
        return try root.describe()
    }

    func seal(_ key: SharedSecret) throws(KeychainError) -> [UInt8] {
        try check(.seal)
        return try root.seal(key)
    }

    func unseal(_ sealed: [UInt8]) throws(KeychainError) -> SharedSecret {
        try check(.unseal)
        return try root.unseal(sealed)
    }

    func seal(_ key: SharedSecret, to registers: RegisterBinding) throws(KeychainError) -> [UInt8] {
        try check(.seal)
        return try root.seal(key, to: registers)
    }

    func unseal(_ sealed: [UInt8], authorization: SharedSecret) throws(KeychainError) -> SharedSecret {
        try check(.unseal)
        return try root.unseal(sealed, authorization: authorization)
    }

    func registers(of sealed: [UInt8]) throws(KeychainError) -> Set<UInt8> { try root.registers(of: sealed) }

    func seal(_ secret: SharedSecret, pin: SharedSecret, limit: Int) throws(KeychainError) -> PINSecret {
        try check(.sealPIN)
        return try root.seal(secret, pin: pin, limit: limit)
    }

    func unseal(_ secret: PINSecret, pin: SharedSecret) throws(KeybagError) -> SharedSecret {
        do throws(KeychainError) {
            try check(.unsealPIN)
        } catch {
            throw .hardware(error)
        }
        hook.withLock { hook in
            hook?()
            hook = nil
        }
        return try root.unseal(secret, pin: pin)
    }

    func createCounter(
        authorization: SharedSecret
    ) throws(KeychainError) -> (index: HardwareIndex, value: UInt64) {
        try check(.createCounter)
        return try root.createCounter(authorization: authorization)
    }

    func value(of counter: HardwareIndex, authorization: SharedSecret) throws(KeychainError) -> UInt64 {
        try check(.value)
        return try root.value(of: counter, authorization: authorization)
    }

    func increment(_ counter: HardwareIndex, authorization: SharedSecret) throws(KeychainError) -> UInt64 {
        try check(.increment)
        return try root.increment(counter, authorization: authorization)
    }

    func remove(_ index: HardwareIndex) throws(KeychainError) {
        try check(.remove)
        try root.remove(index)
    }
}
