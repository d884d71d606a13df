// SPDX-License-Identifier: Apache-2.0

import Foundation

extension Floor: Contender {
    var name: String { "floor" }

    func time(_ call: KeychainCall, on item: Item, size: Int) throws -> UInt64 {
        switch call {
        case .exactLookup: try timeLookup(call, item, service: item.service)
        case .lookupByAccount: try timeLookup(call, item, service: nil)
        case .attributes: try timeAttributes(item)
        case .allOfService: try timeService(item, size: size)
        case .add: try Stopwatch.time { try add(item) }.nanoseconds
        case .update: try Stopwatch.time { try update(item) }.nanoseconds
        case .delete: try Stopwatch.time { try delete(item) }.nanoseconds
        }
    }

    private func timeLookup(_ call: KeychainCall, _ item: Item, service: String?) throws -> UInt64 {
        let (found, nanoseconds) = try Stopwatch.time { try secret(account: item.account, service: service) }
        guard let data = found, item.owns(data) else {
            throw failure(call, item, "the secret is missing or belongs to another item")
        }
        return nanoseconds
    }

    private func timeAttributes(_ item: Item) throws -> UInt64 {
        let (found, nanoseconds) = try Stopwatch.time { try metadata(account: item.account, service: item.service) }
        guard let data = found, data.starts(with: item.label.utf8) else {
            throw failure(.attributes, item, "the metadata is missing or belongs to another item")
        }
        return nanoseconds
    }

    private func timeService(_ item: Item, size: Int) throws -> UInt64 {
        let (found, nanoseconds) = try Stopwatch.time { try items(service: item.service) }
        guard found.count == item.siblings(in: size) else {
            throw failure(.allOfService, item, "found \(found.count) items, expected \(item.siblings(in: size))")
        }
        return nanoseconds
    }
}
