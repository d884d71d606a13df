// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The reasons of the methods; the session itself does not know them.
final class Refusals: Sendable {
    private let reasons = Mutex<[String]>([])

    var text: String { reasons.withLock { $0.joined(separator: "; ") } }

    func add(_ reason: String) { reasons.withLock { $0.append(reason) } }
}
