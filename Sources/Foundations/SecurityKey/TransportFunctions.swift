// SPDX-License-Identifier: Apache-2.0

internal import CFido2
internal import LinuxSystem

/// The functions that libfido2 calls to use a connection.
///
/// libfido2 passes only a path to the function that opens a device. So the connection is registered
/// under a path that names nothing else, while the device is being opened.
enum TransportFunctions {
    private static let registered = SystemMutex<(connections: [String: GuardedConnection], count: Int)>(([:], 0))

    /// Opens the device over the connection, and returns libfido2's status.
    static func open(_ device: OpaquePointer, over connection: GuardedConnection) -> Int32 {
        let path = registered.withLock { registered in
            registered.count += 1
            let path = "latchkey:\(registered.count)"
            registered.connections[path] = connection
            return path
        }
        defer { registered.withLock { _ = $0.connections.removeValue(forKey: path) } }
        var functions = fido_dev_io_t(
            open: { TransportFunctions.handle(of: $0) }, close: { TransportFunctions.release($0) },
            read: { handle, buffer, count, _ in TransportFunctions.read(handle, buffer, count) },
            write: { TransportFunctions.write($0, $1, $2) })
        let status = fido_dev_set_io_functions(device, &functions)
        return status == FIDO_OK ? fido_dev_open(device, path) : status
    }

    private static func handle(of path: UnsafePointer<CChar>?) -> UnsafeMutableRawPointer? {
        guard let path, let connection = registered.withLock({ $0.connections[String(cString: path)] }) else {
            return nil
        }
        return Unmanaged.passRetained(connection).toOpaque()
    }

    private static func release(_ handle: UnsafeMutableRawPointer?) {
        guard let handle else { return }
        Unmanaged<GuardedConnection>.fromOpaque(handle).release()
    }

    /// Returns the number of bytes, or -1: libfido2 then ends the operation.
    private static func read(
        _ handle: UnsafeMutableRawPointer?, _ buffer: UnsafeMutablePointer<UInt8>?, _ count: Int
    ) -> Int32 {
        guard let handle, let buffer else { return -1 }
        let connection = Unmanaged<GuardedConnection>.fromOpaque(handle).takeUnretainedValue()
        guard let report = connection.read(), report.count == count else { return -1 }
        UnsafeMutableRawBufferPointer(start: buffer, count: count).copyBytes(from: report)
        return Int32(truncatingIfNeeded: count)
    }

    /// Writes a report. libfido2 puts the report's number, 0, before it.
    private static func write(
        _ handle: UnsafeMutableRawPointer?, _ buffer: UnsafePointer<UInt8>?, _ count: Int
    ) -> Int32 {
        guard let handle, let buffer else { return -1 }
        let report = Array(UnsafeBufferPointer(start: buffer, count: count).dropFirst())
        let connection = Unmanaged<GuardedConnection>.fromOpaque(handle).takeUnretainedValue()
        return connection.write(report) ? Int32(truncatingIfNeeded: count) : -1
    }
}
