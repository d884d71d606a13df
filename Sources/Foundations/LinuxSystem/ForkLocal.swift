// SPDX-License-Identifier: Apache-2.0

public import Synchronization

/// One value for each process, created on first use, and created again in a forked child.
///
/// A child must not use open objects of its parent: SQLite's locks belong to the parent, its secret memory is not
/// mapped in the child, and a mutex that another thread held at the fork is never released. So the child neither uses
/// nor releases the parent's value.
public final class ForkLocal<Value: AnyObject & Sendable>: Sendable {
    @usableFromInline final class Slot: Sendable {
        @usableFromInline let forkDetector = ForkDetector()
        @usableFromInline let value: Value
        init(_ value: Value) { self.value = value }
    }

    @usableFromInline let current = Atomic<Unmanaged<Slot>?>(nil)
    private let make: @Sendable () -> Value

    public init(_ make: @escaping @Sendable () -> Value) {
        self.make = make
    }

    /// The value of this process.
    @inlinable public var value: Value {
        let seen = current.load(ordering: .acquiring)
        if let slot = seen?.takeUnretainedValue(), slot.forkDetector.isThisProcess {
            return slot.value
        }
        return fresh(replacing: seen)
    }

    /// Makes the value, unless another thread of this process stores its own first.
    @usableFromInline func fresh(replacing seen: Unmanaged<Slot>?) -> Value {
        let fresh = Unmanaged.passRetained(Slot(make()))
        let (stored, winner) = current.compareExchange(expected: seen, desired: fresh, ordering: .acquiringAndReleasing)
        if stored {
            return fresh.takeUnretainedValue().value
        }
        fresh.release()
        return winner?.takeUnretainedValue().value ?? self.value
    }
}
