// SPDX-License-Identifier: Apache-2.0

internal import LinuxSystem

/// The limits of the work for one scanned file. The parts beyond a limit are left out, and named as a problem.
public struct ScanLimits: Sendable {
    /// The maximum depth of documents in documents, encodings included.
    public var maxDepth = 8
    /// The maximum number of bytes of a document that is kept in memory as a whole.
    public var maxDocumentLength = 128 << 20
    /// The maximum number of bytes that are unpacked and decoded.
    public var maxDecodedLength = 2 << 30
    /// The maximum number of documents in the file, at all depths.
    public var maxDocuments = 200_000
    /// The maximum processor time, beside a second for each MiB of text: for files that are made to be slow.
    public var maxSeconds = 60
    /// The maximum number of findings.
    public var maxFindings = 10_000

    public init() {}
}

/// The rest of a file's limits.
struct ScanBudget: Sendable {
    enum Limit: String, Sendable {
        case depth, length, decoded, documents, findings, time, change
    }

    let limits: ScanLimits
    private var decodedLength = 0
    private var documents = 0
    private var findings = 0
    private var textLength = 0
    private let start = SystemTime.read(.thread)
    /// The limits that were exceeded.
    private(set) var exceeded: Set<Limit> = []

    init(_ limits: ScanLimits) { self.limits = limits }

    /// Takes the cost of another document.
    ///
    /// - Returns: false if it must not be read.
    mutating func takeDocument(length: Int, depth: Int) -> Bool {
        guard takeTime() else { return false }
        if depth > limits.maxDepth { return exceed(.depth) }
        if length > limits.maxDocumentLength { return exceed(.length) }
        documents += 1
        if documents > limits.maxDocuments { return exceed(.documents) }
        return takeDecoded(length)
    }

    mutating func takeDecoded(_ length: Int) -> Bool {
        guard length <= limits.maxDecodedLength - decodedLength else { return exceed(.decoded) }
        decodedLength += length
        return true
    }

    mutating func addText(length: Int) { textLength &+= length }

    /// - Returns: false if the time is over.
    mutating func takeTime() -> Bool {
        guard let start, let now = SystemTime.read(.thread),
            Int(clamping: now.seconds &- start.seconds) <= limits.maxSeconds + (textLength >> 20)
        else { return exceed(.time) }
        return true
    }

    /// How many bytes may be decoded for one document now.
    var decodableLength: Int { min(limits.maxDocumentLength, limits.maxDecodedLength - decodedLength) }

    mutating func takeFinding() -> Bool {
        findings += 1
        return findings <= limits.maxFindings || exceed(.findings)
    }

    /// - Returns: false.
    mutating func exceed(_ limit: Limit) -> Bool {
        exceeded.insert(limit)
        return false
    }
}

extension ScanBudget.Limit {
    func sentence(_ limits: ScanLimits) -> String {
        switch self {
        case .depth: "documents in more than \(limits.maxDepth) others were not scanned"
        case .length: "documents of more than \(limits.maxDocumentLength) bytes were not scanned as a whole"
        case .decoded: "more than \(limits.maxDecodedLength) bytes would have been unpacked; the rest was not scanned"
        case .documents: "more than \(limits.maxDocuments) documents are in it; the rest was not scanned"
        case .time: "scanning takes too long for its length; the rest was not scanned"
        case .change: "it was changed while it was scanned"
        case .findings: "more than \(limits.maxFindings) findings; the rest is not reported"
        }
    }
}
