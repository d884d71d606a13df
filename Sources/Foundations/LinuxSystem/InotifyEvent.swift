// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// One event of inotify(7).
struct InotifyEvent {
    let watch: Int32
    let mask: UInt32
    /// The entry of the watched directory that the event is about; nil for the directory itself.
    let name: String?

    func has(_ bits: UInt32) -> Bool { mask & bits != 0 }

    /// Returns the events that have arrived; none if the descriptor would block.
    static func read(from descriptor: Int32) -> [InotifyEvent] {
        withUnsafeTemporaryAllocation(byteCount: bufferSize, alignment: 8) { buffer in
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            guard count > 0 else { return [] }
            var events: [InotifyEvent] = []
            var rest = UnsafeRawBufferPointer(rebasing: buffer.prefix(count))
            while rest.count >= headSize {
                let length = Int(rest.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
                let name = rest.dropFirst(headSize).prefix(length).prefix { $0 != 0 }
                events.append(
                    InotifyEvent(
                        watch: rest.loadUnaligned(fromByteOffset: 0, as: Int32.self),
                        mask: rest.loadUnaligned(fromByteOffset: 4, as: UInt32.self),
                        name: name.isEmpty ? nil : String(decoding: name, as: UTF8.self)))
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(headSize + length))
            }
            return events
        }
    }

    /// The size of `struct inotify_event` without the name: watch, mask, cookie, length.
    private static let headSize = 16
    private static let bufferSize = 4096
}
