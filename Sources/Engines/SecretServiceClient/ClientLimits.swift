// SPDX-License-Identifier: Apache-2.0

internal import SystemBus

/// The limits on the answers of a service. They may be of any size and without end.
///
/// libsystemd itself reads whole messages, up to the limit of the bus for them.
public struct ClientLimits: Sendable {
    public var maxCollections = 256
    /// The items of all collections.
    public var maxItems = 100_000
    /// The bytes of the labels and attributes of all items.
    public var maxTextBytes = 64 << 20
    /// How long an answer may take.
    public var timeout = Duration.seconds(25)

    public init() {}

    /// For the connection: a list of all items is one message.
    static var bus: BusLimits {
        var limits = BusLimits()
        limits.maxValues = 1 << 18
        limits.maxDepth = 8
        return limits
    }
}
