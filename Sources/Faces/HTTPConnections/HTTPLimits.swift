// SPDX-License-Identifier: Apache-2.0

/// How much a server may cost.
package struct HTTPLimits: Sendable {
    /// Of all fields of a response together. The bytes of a message that are not its body, such as the
    /// extensions of chunks, are limited by it too.
    package var maxFieldBytes = 64 * 1024
    package var maxFields = 256
    /// How much larger than the received bytes a decoded body may be, beyond its first mebibyte.
    package var maxDecodedRatio = 1000
    package init() {}

    /// Of one exchange.
    static let maxInformationalResponses = 16
    /// A decoded body of this length is accepted with any ratio.
    static let decodedAllowance = 1 << 20
    /// The encodings of one response.
    static let maxContentCodings = 3
}
