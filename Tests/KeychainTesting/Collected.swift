// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Values that several threads append.
public final class Collected<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])

    public init() {}

    public var all: [Value] { values.withLock { $0 } }
    public func append(_ value: Value) { values.withLock { $0.append(value) } }
}
