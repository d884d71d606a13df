// SPDX-License-Identifier: Apache-2.0

internal import FoundationNetworking

/// The protocol object of a task, and its client.
///
/// Its Sendable is unchecked because `URLProtocol` is not Sendable: Foundation calls it on the
/// task's queue alone, and `TaskLoad` uses this handle on the same queue alone.
final class ClientHandle: @unchecked Sendable {
    private weak var owner: LatchkeyURLProtocol?

    init(_ owner: LatchkeyURLProtocol) { self.owner = owner }

    /// Calls the client of the task. Must be called on the task's queue.
    func call(_ body: (any URLProtocolClient, URLProtocol) -> Void) {
        guard let owner, let client = owner.client else { return }
        body(client, owner)
    }
}
