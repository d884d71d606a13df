// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
public import SecretMemory

/// The memory of this process, and the values that are searched for, as an attacker with a core dump
/// would.
public final class ProcessMemory {
    /// The needles, followed by the buffer for the memory that is read. This region is not searched.
    private let region: UnsafeMutableRawPointer
    private var needles: [(name: String, offset: Int)] = []

    /// memmem(3). The Glibc module does not export it.
    private typealias Find = @convention(c) (UnsafeRawPointer, Int, UnsafeRawPointer, Int) -> UnsafeRawPointer?
    private static let find = unsafeBitCast(dlsym(nil, "memmem"), to: Find.self)

    private static let needleRoom = 1 << 16
    private static let bufferLength = 1 << 20
    private static let length = 32

    public init() {
        region = mmap(
            nil, Self.needleRoom + Self.bufferLength, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    }

    public var names: [String] { needles.map(\.name) }

    public func remember(_ name: String, _ secret: borrowing SecretBytes) {
        secret.withUnsafeBytes { remember(name, $0) }
    }

    public func remember(_ name: String, _ bytes: [UInt8]) {
        bytes.withUnsafeBytes { remember(name, UnsafeRawBufferPointer(rebasing: $0.prefix(Self.length))) }
    }

    private func remember(_ name: String, _ bytes: UnsafeRawBufferPointer) {
        let offset = needles.count * Self.length
        (region + offset).copyMemory(from: bytes.baseAddress ?? UnsafeRawPointer(region), byteCount: Self.length)
        needles.append((name, offset))
    }

    /// Returns the needles in other memory, and the needles in the arena of secrets.
    public func search() -> (ordinary: Set<String>, arena: Set<String>) {
        var found: (ordinary: Set<String>, arena: Set<String>) = ([], [])
        let memory = open("/proc/self/mem", O_RDONLY)
        defer { close(memory) }
        for range in Self.regions() where !range.addresses.contains(UInt(bitPattern: region)) {
            var position = range.addresses.lowerBound
            while position < range.addresses.upperBound {
                let count = min(Int(range.addresses.upperBound - position), Self.bufferLength)
                let buffer = region + Self.needleRoom
                // The arena cannot be read through /proc.
                let isRead =
                    range.isArena
                    ? Self.copy(position, count, to: buffer) : pread(memory, buffer, count, off_t(position)) == count
                guard isRead else { break }
                for needle in needles where Self.find(buffer, count, region + needle.offset, Self.length) != nil {
                    if range.isArena { found.arena.insert(needle.name) } else { found.ordinary.insert(needle.name) }
                }
                // The pieces overlap, so that a needle on a boundary is found.
                position += UInt(count == Self.bufferLength ? count - Self.length : count)
            }
        }
        return found
    }

    /// Copies memory through a pipe. If another test has just unmapped its pages, write(2) fails
    /// instead of a trap.
    private static func copy(_ position: UInt, _ count: Int, to buffer: UnsafeMutableRawPointer) -> Bool {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { return false }
        defer { for end in ends { close(end) } }
        var done = 0
        while done < count {
            // This much fits into an empty pipe.
            let wanted = min(count - done, 4096)
            guard let start = UnsafeRawPointer(bitPattern: position + UInt(done)),
                write(ends[1], start, wanted) == wanted,
                read(ends[0], buffer + done, wanted) == wanted
            else { return false }
            done += wanted
        }
        return true
    }

    /// Returns the writable regions. Those of the arena are left out of core dumps (VmFlags `dd`).
    private static func regions() -> [(addresses: Range<UInt>, isArena: Bool)] {
        // Read to the end, because the kernel returns such a file in pieces.
        let handle = FileHandle(forReadingAtPath: "/proc/self/smaps")
        let text = String(decoding: (try? handle?.readToEnd()) ?? Data(), as: UTF8.self)
        var regions: [(addresses: Range<UInt>, isArena: Bool)] = []
        var addresses: Range<UInt>?
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if let bounds = words.first?.split(separator: "-"), bounds.count == 2, let low = UInt(bounds[0], radix: 16),
                let high = UInt(bounds[1], radix: 16)
            {
                addresses = words[1].hasPrefix("rw") ? low..<high : nil
            } else if line.hasPrefix("VmFlags:"), let range = addresses {
                regions.append((range, words.contains("dd")))
            }
        }
        return regions
    }
}
