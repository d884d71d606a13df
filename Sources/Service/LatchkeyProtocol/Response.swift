// SPDX-License-Identifier: Apache-2.0

public import KeychainModel
public import SecretMemory

/// A response of the daemon. Every request gets one final response; progress, and parts of long
/// results, may precede it.
public enum Response: Sendable {
    case welcome(Welcome)
    case failure(KeychainError)
    case done
    case count(Int)

    case record(ItemRecord)
    case records([ItemRecord], damaged: Int, moreFollows: Bool)

    case status(KeychainStatus)
    case findings([KeychainFinding])
    case caller(CallerReport)

    case lockStatus(LockStatus)
    case lockState(LockState)
    case secret(SharedSecret)

    case backedUp(BackupReport)
    case restored(RestoreReport)
    case piece([UInt8])
    case ready

    case logLines(AuditLines, moreFollows: Bool)
    case logVerdict(AuditVerification)

    case generatedKey(GeneratedKey)
    case publicKey(PublicKeyInfo)
    case keyOutput(KeyOutput)

    case progress(done: Int, total: Int)

    /// The daemon's response to ``Request/Hello``.
    public struct Welcome: Sendable, Equatable {
        public var version: UInt32
        /// 16 random bytes, different after each start of the daemon.
        public var instance: [UInt8]
        public var mode: KeychainStatus.Mode
        public var dataDirectory: String
        public var stateDirectory: String

        public init(
            version: UInt32 = WireVersion.current, instance: [UInt8], mode: KeychainStatus.Mode, dataDirectory: String,
            stateDirectory: String
        ) {
            self.version = version
            self.instance = instance
            self.mode = mode
            self.dataDirectory = dataDirectory
            self.stateDirectory = stateDirectory
        }
    }

    /// Whether further responses to the same request follow.
    public var moreFollows: Bool {
        switch self {
        case .records(_, _, let moreFollows), .logLines(_, let moreFollows): moreFollows
        case .piece, .ready, .lockState, .progress: true
        default: false
        }
    }
}

/// A response with the number of its request.
public struct NumberedResponse: Sendable {
    public var number: UInt64
    public var response: Response

    public init(number: UInt64, _ response: Response) {
        self.number = number
        self.response = response
    }
}
