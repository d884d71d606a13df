// SPDX-License-Identifier: Apache-2.0

import Foundation
import LinuxSystem
@testable import SecretMemory
import Testing

@Suite("SecretBytes")
struct SecretBytesTests {
    @Test("The memory is zero after the owner is destroyed", arguments: [1, 31, 32, 33, 4096, 4097, 1 << 20])
    func wiped(_ count: Int) {
        let arena = SecretArena.current
        let block = arena.allocate(count)
        for index in block.buffer.indices { block.buffer[index] = 0xAB }
        let address = block.buffer.baseAddress
        #expect(block.buffer.allSatisfy { $0 == 0xAB })
        // Large blocks are unmapped. Wiping can be observed in small blocks, because they stay mapped.
        if count <= 4096 {
            block.free()
            let after = UnsafeRawBufferPointer(start: address, count: block.buffer.count)
            #expect(after.allSatisfy { $0 == 0 }, "the whole capacity is wiped, not only \(count) bytes")
        } else {
            block.free()
            #expect(!isMapped(address), "a large block is unmapped")
        }
    }

    @Test("A secret that goes out of scope leaves zeros in its memory")
    func scope() {
        var address: UnsafeRawPointer?
        do {
            let secret = SecretBytes(Array("a secret of thirty-two bytes ...".utf8))
            secret.withUnsafeBytes { bytes in
                address = bytes.baseAddress
                #expect(String(decoding: bytes, as: UTF8.self) == "a secret of thirty-two bytes ...")
            }
        }
        let after = UnsafeRawBufferPointer(start: address, count: 32)
        #expect(after.allSatisfy { $0 == 0 })
    }

    @Test("Blocks do not overlap, and freed blocks are zero when they are reused")
    func noOverlap() {
        var secrets: [SharedSecret] = (0..<3000).map {
            SharedSecret(copying: repeatElement(UInt8(truncatingIfNeeded: $0), count: 32))
        }
        for (number, secret) in secrets.enumerated() {
            secret.withUnsafeBytes { bytes in #expect(bytes.allSatisfy { $0 == UInt8(truncatingIfNeeded: number) }) }
        }
        secrets.removeAll()
        let fresh = SecretBytes(count: 32) { bytes in #expect(bytes.allSatisfy { $0 == 0 }) }
        #expect(fresh.count == 32)
    }

    @Test("A secret is never printed")
    func redacted() {
        let secret = SharedSecret(copying: Array("hunter2".utf8))
        #expect("\(secret)" == "<redacted 7 bytes>")
        #expect(String(reflecting: secret) == "<redacted 7 bytes>")
        var dumped = ""
        dump(secret, to: &dumped)
        #expect(!dumped.contains("hunter2") && !dumped.contains("104"))
        #expect(SecretBytes(Array("hunter2".utf8)).description == "<redacted 7 bytes>")
    }

    @Test("Equality compares every byte")
    func equality() {
        let one = SharedSecret(copying: [1, 2, 3])
        #expect(one == SharedSecret(copying: [1, 2, 3]))
        #expect(one != SharedSecret(copying: [1, 2, 4]))
        #expect(one != SharedSecret(copying: [1, 2]))
        #expect(SharedSecret(copying: []) == SharedSecret(copying: []))
    }

    @Test("The pages are excluded from core dumps and from forked children")
    func pageFlags() throws {
        let secret = SecretBytes.random(count: 32)
        let address = secret.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        let flags = try #require(self.flags(at: address))
        #expect(flags.contains("dd"), "VM_DONTDUMP")
        #expect(flags.contains("dc"), "VM_DONTCOPY")
        #expect(secret.count == 32)
    }

    private func isMapped(_ address: UnsafeMutableRawPointer?) -> Bool {
        flags(at: UInt(bitPattern: address)) != nil
    }

    /// Returns the VmFlags of the mapping that contains the address (proc(5), /proc/pid/smaps).
    private func flags(at address: UInt) -> [Substring]? {
        let file = FileHandle(forReadingAtPath: "/proc/self/smaps")
        let maps = String(decoding: file?.readDataToEndOfFile() ?? Data(), as: UTF8.self)
        var isInside = false
        for line in maps.split(separator: "\n") {
            if let range = line.split(separator: " ").first, range.contains("-") {
                let ends = range.split(separator: "-").compactMap { UInt($0, radix: 16) }
                if ends.count == 2 { isInside = ends[0] <= address && address < ends[1] }
            }
            if isInside, line.hasPrefix("VmFlags:") { return line.split(separator: " ").dropFirst().map { $0 } }
        }
        return nil
    }
}
