// SPDX-License-Identifier: Apache-2.0

import CRawFloor

/// The raw floor: the work of ``Floor`` in C, with SQLite's C interface and BoringSSL's functions,
/// without Swift's types between them. It uses the floor's database and keys.
final class RawFloor: Contender {
    let name = "raw floor"
    private let handle: OpaquePointer
    private let floor: Floor

    init(_ floor: Floor) throws {
        guard let handle = raw_floor_open(floor.path, floor.keys.index, floor.keys.secret, floor.keys.metadata) else {
            throw BenchmarkFailure("raw floor: cannot open \(floor.path)")
        }
        self.handle = handle
        self.floor = floor
    }

    deinit { raw_floor_close(handle) }

    /// The calls that the raw floor has.
    static let calls: [KeychainCall] = [.exactLookup, .lookupByAccount, .attributes, .allOfService, .add, .delete]

    func time(_ call: KeychainCall, on item: Item, size: Int) throws -> UInt64 {
        switch call {
        case .exactLookup:
            try timeReading(call, item, item.owns) { raw_floor_secret($0, item.account, item.service, $1, $2) }
        case .lookupByAccount:
            try timeReading(call, item, item.owns) { raw_floor_secret($0, item.account, nil, $1, $2) }
        case .attributes:
            try timeReading(call, item, { $0.starts(with: item.label.utf8) }) {
                raw_floor_metadata($0, item.account, item.service, $1, $2)
            }
        case .allOfService: try timeService(item, size: size)
        case .add: try timeAdd(item)
        case .delete:
            try timeChange(call, item) { raw_floor_delete($0, item.account, item.service) }
        case .update: throw failure(call, item, "the raw floor does not have this call")
        }
    }

    private func timeReading(
        _ call: KeychainCall, _ item: Item, _ isExpected: (ArraySlice<UInt8>) -> Bool,
        _ body: (OpaquePointer, UnsafeMutablePointer<UInt8>?, Int) -> Int32
    ) throws -> UInt64 {
        var content = [UInt8](repeating: 0, count: 4096)
        let (count, nanoseconds) = content.withUnsafeMutableBufferPointer { buffer in
            Stopwatch.time { body(handle, buffer.baseAddress, buffer.count) }
        }
        guard count >= 0, isExpected(content.prefix(Int(count))) else {
            throw failure(call, item, "the content is missing or belongs to another item")
        }
        return nanoseconds
    }

    private func timeService(_ item: Item, size: Int) throws -> UInt64 {
        let (count, nanoseconds) = Stopwatch.time { raw_floor_service(handle, item.service) }
        guard Int(count) == item.siblings(in: size) else {
            throw failure(.allOfService, item, "found \(count) items, expected \(item.siblings(in: size))")
        }
        return nanoseconds
    }

    private func timeAdd(_ item: Item) throws -> UInt64 {
        let metadata = floor.paddedMetadata(of: item)
        let secret = floor.padded(item.secret)
        return try timeChange(.add, item) {
            raw_floor_add(
                $0, item.account, item.service, item.label, metadata, metadata.count, secret, secret.count)
        }
    }

    private func timeChange(_ call: KeychainCall, _ item: Item, _ body: (OpaquePointer) -> Int32) throws -> UInt64 {
        let (code, nanoseconds) = Stopwatch.time { body(handle) }
        guard code == 0 else { throw failure(call, item, "the row was not changed") }
        return nanoseconds
    }
}
