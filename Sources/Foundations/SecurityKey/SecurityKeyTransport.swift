// SPDX-License-Identifier: Apache-2.0

/// A way to exchange reports of CTAPHID with a security key (CTAP 2.1, 11.2).
public protocol SecurityKeyTransport: Sendable {
    /// Connects to the device. The connection ends when the object is released.
    func connect() throws(SecurityKeyError) -> any SecurityKeyConnection
}

/// A connection to a security key.
public protocol SecurityKeyConnection: Sendable {
    /// Sends one report of 64 bytes, without a report number. It must not block for long.
    ///
    /// A cancellation calls it on another thread, while ``read(timeout:)`` waits.
    ///
    /// - Returns: whether the report was sent.
    func write(_ report: [UInt8]) -> Bool

    /// Returns the next report, of 64 bytes; nil if there is none within the timeout.
    ///
    /// - Throws: ``SecurityKeyError/connectionFailed`` if the connection has ended.
    func read(timeout: Duration) throws(SecurityKeyError) -> [UInt8]?
}
