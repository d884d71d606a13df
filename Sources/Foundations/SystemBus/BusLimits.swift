// SPDX-License-Identifier: Apache-2.0

/// How much a connection accepts from its peers. A response or a call that exceeds a limit is
/// refused, and not decoded further.
///
/// libsystemd itself reads whole messages, up to the bus's limit for them (128 MiB in the
/// specification; 32 MiB on the usual system bus).
public struct BusLimits: Sendable {
    /// The bytes of all strings and byte arrays of one message. Also limits sent messages.
    public var maxBytes = 32 << 20
    /// The values of one message; an array, a structure and each of their elements count. A byte
    /// array is one value. Also limits sent messages.
    public var maxValues = 65_536
    /// The nesting of arrays, structures and variants; at most 60. The bus ends a connection that
    /// sends a message of more than 64 levels.
    public var maxDepth = 32
    /// The descriptors of one message.
    public var maxDescriptors = 16
    /// The method calls of peers that are not answered yet, and those of one peer.
    public var maxUnansweredCalls = 256
    public var maxUnansweredCallsPerPeer = 64
    /// The signals and method calls that wait for their handlers, and the bytes of these.
    public var maxQueuedEvents = 4_096
    public var maxQueuedBytes = 64 << 20

    public init() {}
}

/// What is left of the limits while one message is decoded or encoded.
struct MessageBudget {
    private let limits: BusLimits
    private(set) var values = 0
    private(set) var bytes = 0
    private var descriptors = 0

    init(_ limits: BusLimits) { self.limits = limits }

    /// An estimate of the memory that the decoded message uses.
    var cost: Int { bytes &+ values &* MemoryLayout<BusValue>.stride }

    mutating func spendValue(depth: Int) throws(BusError) {
        values += 1
        guard values <= limits.maxValues else { throw .limitExceeded("\(limits.maxValues) values") }
        let maxDepth = min(limits.maxDepth, Self.maxDepth)
        guard depth <= maxDepth else { throw .limitExceeded("\(maxDepth) levels of nesting") }
    }

    private static let maxDepth = 60

    mutating func spend(bytes count: Int) throws(BusError) {
        let (sum, isTooLarge) = bytes.addingReportingOverflow(count)
        guard !isTooLarge, sum <= limits.maxBytes else { throw .limitExceeded("\(limits.maxBytes) bytes") }
        bytes = sum
    }

    mutating func spendDescriptor() throws(BusError) {
        descriptors += 1
        guard descriptors <= limits.maxDescriptors else {
            throw .limitExceeded("\(limits.maxDescriptors) descriptors")
        }
    }
}
