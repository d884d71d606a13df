// SPDX-License-Identifier: Apache-2.0

import Glibc
import SystemBus

/// Measures the memory that values use, as the allocator reports it.
enum ValueMemory {
    static func bytes(of values: [BusValue]) -> Int { buffer(values) + values.reduce(0) { $0 + bytes(of: $1) } }

    private static func bytes(of value: BusValue) -> Int {
        switch value {
        case .string(let text): box(value) + bytes(of: text)
        case .objectPath(let path): box(value) + bytes(of: path.text)
        case .signature(let signature): box(value) + bytes(of: signature.types)
        // A variant describes its own types; those of other values are shared.
        case .variant(let content): box(value) + bytes(of: content) + describedTypes(content)
        case .bytes(let bytes): box(value) + buffer(bytes)
        case .array(_, let elements): box(value) + bytes(of: elements)
        case .dictionary(_, _, let entries):
            box(value) + buffer(entries) + entries.reduce(0) { $0 + bytes(of: $1.key) + bytes(of: $1.value) }
        case .structure(let fields): box(value) + bytes(of: fields)
        default: box(value)
        }
    }

    private static func describedTypes(_ value: BusValue) -> Int {
        switch value {
        case .array(let element, _): bytes(of: element)
        case .dictionary(let key, let value, _): bytes(of: key) + bytes(of: value)
        default: 0
        }
    }

    private static func bytes(of types: [BusType]) -> Int { buffer(types) + types.reduce(0) { $0 + bytes(of: $1) } }

    private static func bytes(of type: BusType) -> Int {
        switch type {
        case .array(let element): allocation(unsafeBitCast(type, to: UInt.self)) + bytes(of: element)
        case .dictionary(let key, let value):
            allocation(unsafeBitCast(type, to: UInt.self)) + bytes(of: key) + bytes(of: value)
        case .structure(let fields): allocation(unsafeBitCast(type, to: UInt.self)) + bytes(of: fields)
        default: 0
        }
    }

    // MARK: Allocations

    /// The box of an indirect case: a pointer with unused bits that distinguish the cases.
    private static func box(_ value: BusValue) -> Int { allocation(unsafeBitCast(value, to: UInt.self)) }

    private static func bytes(of text: String) -> Int {
        // A string of up to 15 bytes is in its own two words; otherwise the second one is a pointer.
        guard text.utf8.count > 15 else { return 0 }
        return allocation(unsafeBitCast(text, to: (UInt, UInt).self).1)
    }

    /// The buffer of an array. Its elements begin after a header of 32 bytes.
    private static func buffer<Element>(_ elements: [Element]) -> Int {
        guard !elements.isEmpty else { return 0 }
        return elements.withUnsafeBytes { allocation(UInt(bitPattern: $0.baseAddress) - 32) }
    }

    /// The size of an allocation with the allocator's own word.
    private static func allocation(_ address: UInt) -> Int {
        let pointer = UnsafeMutableRawPointer(bitPattern: address & 0x7FFF_FFFF_FFF8)
        return (usableSize?(pointer) ?? 0) + 8
    }

    /// `malloc_usable_size`, missing in Swift's module of glibc.
    private static let usableSize: (@convention(c) (UnsafeMutableRawPointer?) -> Int)? =
        dlsym(nil, "malloc_usable_size").map {
            unsafeBitCast($0, to: (@convention(c) (UnsafeMutableRawPointer?) -> Int).self)
        }
}
