// SPDX-License-Identifier: Apache-2.0

internal import CZlib

/// The check sum of zip, gzip and several tokens: CRC-32 with the polynomial of IEEE 802.3.
public enum CRC32 {
    public static func value(of bytes: [UInt8]) -> UInt32 {
        bytes.withUnsafeBufferPointer { UInt32(truncatingIfNeeded: crc32_z(0, $0.baseAddress, $0.count)) }
    }
}
