// SPDX-License-Identifier: Apache-2.0

/// How to reach a TPM. Tests have one of their own.
public protocol TPMTransport: Sendable {
    /// For messages.
    var address: TPMAddress { get }
    func connect() throws(TPMError) -> any TPMConnection
}

extension TPMAddress {
    /// The device or the socket at the address.
    public var transport: any TPMTransport { DescriptorTransport(address: self) }
}

/// A connection that carries one command at a time. One thread uses it, and closes it by releasing
/// it.
public protocol TPMConnection: AnyObject {
    /// Sends a whole command.
    ///
    /// - Parameter deadline: a time of `BootClock.system`.
    func send(_ command: UnsafeRawBufferPointer, until deadline: UInt64) throws(TPMError)

    /// Receives the response to the last command.
    ///
    /// - Returns: any bytes; the caller checks them.
    func receive(until deadline: UInt64) throws(TPMError) -> [UInt8]
}
