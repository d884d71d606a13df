// SPDX-License-Identifier: Apache-2.0

/// How much a connection accepts from its peers. A response or a call that exceeds a limit is
/// refused, and not decoded further.
///
/// libsystemd itself reads whole messages, up to the bus's limit for them (128 MiB in the
/// specification; 32 MiB on the usual system bus).
public struct BusLimits: Sendable {
    /// The bytes of all strings and byte arrays of one message, and of the types that a received
    /// message describes. Also limits sent messages, unless ``maxSentBytes`` does.
    public var maxBytes = 32 << 20
    /// The values of one message; an array, a structure and each of their elements count. A byte
    /// array is one value. Also limits sent messages, unless ``maxSentValues`` does.
    public var maxValues = 65_536
    /// The same for sent messages; nil for the same numbers. The bus ends a connection that sends an
    /// array of more than 64 MiB.
    public var maxSentBytes: Int?
    public var maxSentValues: Int?
    /// The nesting of arrays, structures and variants; at most 60. The bus ends a connection that
    /// sends a message of more than 64 levels.
    public var maxDepth = 32
    /// The descriptors of one message.
    public var maxDescriptors = 16
    /// The method calls that are not answered yet, and the memory of their arguments in bytes.
    public var maxUnansweredCalls = 256
    public var maxUnansweredBytes = 128 << 20
    /// The same for all connections of one user, as the bus reports the user of a connection; for
    /// one connection if the bus does not.
    public var maxUnansweredCallsPerUser = 64
    public var maxUnansweredBytesPerUser = 48 << 20
    /// The same for all connections of one process, in addition to the limits of its user: on a session bus, all
    /// connections have the same user. A process also gets at most as much as it leaves free, so that several of
    /// them never use up everything. nil for no such limit.
    public var unansweredShare: (calls: Int, bytes: Int)?
    /// The answers that a connection has not read, and those that all connections have not read, in
    /// bytes, as far as the bus reports them. Calls are then refused, and so are answers.
    public var maxUnreadBytesPerConnection = Int.max
    public var maxUnreadBytes = Int.max
    /// The signals and method calls that wait for their handlers, and the memory of these in bytes.
    public var maxQueuedEvents = 4_096
    public var maxQueuedBytes = 64 << 20

    public init() {}
}

/// The use of the limits by one message while it is decoded or encoded.
struct MessageBudget {
    private let limits: BusLimits
    private(set) var values = 0
    private(set) var bytes = 0
    private var descriptors = 0

    init(_ limits: BusLimits) { self.limits = limits }

    /// The budget of a sent message.
    init(sending limits: BusLimits) {
        var limits = limits
        limits.maxBytes = limits.maxSentBytes ?? limits.maxBytes
        limits.maxValues = limits.maxSentValues ?? limits.maxValues
        self.limits = limits
    }

    /// About the bytes of the encoded message: each value has a length, and is aligned.
    var encodedCount: Int { bytes &+ values &* 8 &+ Self.headerCount }

    private static let headerCount = 256

    /// At least the memory that the decoded message uses, in bytes.
    var cost: Int { bytes &+ values &* Self.valueCost &+ Self.messageCost }

    /// The memory of one value beside its bytes: its box (up to 48 bytes), its place in an array
    /// that grows by doubling (up to 16), and the header of an array or a string (up to 64).
    private static let valueCost = 128
    /// The memory of one message beside its values: names, a path, and the header for an answer.
    private static let messageCost = 8192

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

    /// Spends the memory of types that a message describes: up to a box and a place in an array for
    /// each character of their signature.
    mutating func spend(types signature: String) throws(BusError) {
        try spend(bytes: signature.utf8.count &* Self.typeCost)
    }

    private static let typeCost = 48

    mutating func spendDescriptor() throws(BusError) {
        descriptors += 1
        guard descriptors <= limits.maxDescriptors else {
            throw .limitExceeded("\(limits.maxDescriptors) descriptors")
        }
    }
}
