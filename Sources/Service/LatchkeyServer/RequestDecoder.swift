// SPDX-License-Identifier: Apache-2.0

internal import LatchkeyOperations
internal import LatchkeyProtocol

/// Decodes the requests of one user's connection.
///
/// A message of many empty fields takes more than a hundred times its length while it is decoded,
/// and little afterwards: the server decodes one large message at a time, and a user waits in one
/// place only. The permits are held only while a message is decoded, never while one is received.
struct RequestDecoder {
    let user: UInt32
    let resources: SharedResources
    /// How long a large message waits for its turn, in seconds.
    let timeout: Int

    /// - Throws: ``WireError/slow`` if no permit becomes free before the timeout, and the errors of
    ///   `NumberedRequest.init`.
    func decode(_ frame: Frame) throws(WireError) -> NumberedRequest {
        guard frame.message.count > Self.smallMessage else { return try NumberedRequest(frame) }
        guard let ofUser = resources.decodings.acquire(for: user, timeout: timeout),
            let ofAll = resources.allDecodings.acquire(for: 0, timeout: timeout)
        else { throw .slow }
        defer { withExtendedLifetime((ofUser, ofAll)) {} }
        return try NumberedRequest(frame)
    }

    /// The length of a message that is decoded without a permit, in bytes: its decoded form takes
    /// at most half a mebibyte.
    private static let smallMessage = 4096
}
