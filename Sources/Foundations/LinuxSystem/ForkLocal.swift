// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// One value for each process, created on first use, and created again in a forked child.
///
/// A child must not use what its parent had open: SQLite's locks belong to the parent, its secret
/// memory is not mapped in the child, and a mutex that another thread held at the fork is never
/// released. So the child neither uses nor releases the parent's value.
public final class ForkLocal<Value: AnyObject & Sendable>: Sendable {
    private final class Slot: Sendable {
        let forkDetector = ForkDetector()
        let value: Value
        init(_ value: Value) { self.value = value }
    }

    private let current = Atomic<Unmanaged<Slot>?>(nil)
    private let make: @Sendable () -> Value

    public init(_ make: @escaping @Sendable () -> Value) {
        self.make = make
    }

    /// The value of this process.
    public var value: Value {
        let seen = current.load(ordering: .acquiring)
        if let slot = seen?.takeUnretainedValue(), slot.forkDetector.isThisProcess {
            return slot.value
        }
        let fresh = Unmanaged.passRetained(Slot(make()))
        let (stored, winner) = current.compareExchange(expected: seen, desired: fresh, ordering: .acquiringAndReleasing)
        if stored {
            return fresh.takeUnretainedValue().value
        }
        // Another thread of this process stored its value first.
        fresh.release()
        return winner?.takeUnretainedValue().value ?? self.value
    }
}
