// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The reasons that the methods gave, which the session itself does not know.
final class Refusals: Sendable {
    private let reasons = Mutex<[String]>([])

    var text: String { reasons.withLock { $0.joined(separator: "; ") } }

    func add(_ reason: String) { reasons.withLock { $0.append(reason) } }
}
