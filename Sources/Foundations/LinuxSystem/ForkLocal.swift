// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// One value a process, made on first use, and made anew by a forked child.
///
/// A child must not touch what its parent had open: SQLite's locks belong to the parent, its secret memory is not mapped here, and a mutex
/// that another thread held at the fork would never be freed. So the parent's value is left where it lies, neither used nor released.
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

    /// This process's value.
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
        // Another thread of this process was first.
        fresh.release()
        return winner?.takeUnretainedValue().value ?? self.value
    }
}
