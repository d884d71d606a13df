// SPDX-License-Identifier: Apache-2.0

/// A subscription, an exported object or an owned name: in force as long as this object is kept.
public final class BusRegistration: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }
}
