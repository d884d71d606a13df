// SPDX-License-Identifier: Apache-2.0

import Synchronization
public import TrustedPlatformModule

/// A connection to a TPM with the test in the middle.
public final class AlteredTransport: TPMTransport {
    private let base: any TPMTransport
    private let alter: @Sendable (_ command: UInt32, _ response: [UInt8]) throws(TPMError) -> [UInt8]
    private let seen = Mutex<[UInt32]>([])

    public var address: TPMAddress { base.address }
    /// The codes of the commands that were sent.
    public var commands: [UInt32] { seen.withLock { $0 } }

    /// - Parameter alter: returns the response in place of the TPM's response to a command with this code.
    public init(
        _ base: any TPMTransport,
        _ alter: @escaping @Sendable (_ command: UInt32, _ response: [UInt8]) throws(TPMError) -> [UInt8]
    ) {
        self.base = base
        self.alter = alter
    }

    public func connect() throws(TPMError) -> any TPMConnection {
        AlteredConnection(try base.connect()) { [alter, self] (command, response) throws(TPMError) in
            seen.withLock { $0.append(command) }
            return try alter(command, response)
        }
    }
}

private final class AlteredConnection: TPMConnection {
    private let base: any TPMConnection
    private let alter: (UInt32, [UInt8]) throws(TPMError) -> [UInt8]
    private var command: UInt32 = 0

    init(_ base: any TPMConnection, _ alter: @escaping (UInt32, [UInt8]) throws(TPMError) -> [UInt8]) {
        (self.base, self.alter) = (base, alter)
    }

    func send(_ command: UnsafeRawBufferPointer, until deadline: UInt64) throws(TPMError) {
        self.command = command.dropFirst(6).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
        try base.send(command, until: deadline)
    }

    func receive(until deadline: UInt64) throws(TPMError) -> [UInt8] {
        try alter(command, try base.receive(until: deadline))
    }
}
