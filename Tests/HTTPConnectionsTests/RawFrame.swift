// SPDX-License-Identifier: Apache-2.0

/// Frames of HTTP/2 as bytes (RFC 9113, section 4.1).
enum RawFrame {
    static func frame(_ type: UInt8, _ flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
        let count = payload.count
        return [UInt8(count >> 16 & 0xFF), UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF), type, flags]
            + number(stream) + payload
    }

    static func frame(_ type: UInt8, stream: UInt32 = 0, _ payload: [UInt8]) -> [UInt8] {
        frame(type, 0, stream: stream, payload)
    }

    static func number(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    }

    static let settings = frame(4)
    static let (endStream, endHeaders): (UInt8, UInt8) = (1, 4)
    /// `:status: 200`, from the static table of HPACK.
    static let status200: [UInt8] = [0x88]

    /// A field without indexing (RFC 7541, section 6.2.2); names and values below 127 bytes.
    static func field(_ name: String, _ value: String) -> [UInt8] {
        [0, UInt8(name.utf8.count)] + Array(name.utf8) + [UInt8(value.utf8.count)] + Array(value.utf8)
    }

    static func headers(_ flags: UInt8, _ block: [UInt8]) -> [UInt8] { frame(1, flags, stream: 1, block) }
    static func continuation(_ flags: UInt8, _ block: [UInt8]) -> [UInt8] { frame(9, flags, stream: 1, block) }
    static func data(_ flags: UInt8, _ payload: [UInt8]) -> [UInt8] { frame(0, flags, stream: 1, payload) }
    static func reset(_ code: UInt32, stream: UInt32 = 1) -> [UInt8] { frame(3, stream: stream, number(code)) }
    static func goAway(last: UInt32, _ code: UInt32) -> [UInt8] { frame(7, number(last) + number(code)) }
    static func windowUpdate(_ stream: UInt32, _ increment: UInt32) -> [UInt8] {
        frame(8, stream: stream, number(increment))
    }
}
