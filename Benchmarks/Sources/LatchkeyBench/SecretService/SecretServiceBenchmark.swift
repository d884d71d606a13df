// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The measured operations at each size.
enum SecretOperation: String, CaseIterable, Codable {
    case ping, store, lookup, miss, searchAll

    var title: String {
        switch self {
        case .ping: "a call of the bus itself"
        case .store: "store the next item"
        case .lookup: "lookup: SearchItems, GetSecrets"
        case .miss: "search without a hit"
        case .searchAll: "search with all hits"
        }
    }

    /// How often it is measured, if there is time.
    fileprivate var count: Int {
        switch self {
        case .ping, .lookup, .miss: 500
        case .store: 200
        case .searchAll: 20
        }
    }
}

/// The measurements of one provider at one size.
struct SecretSizeResults: Codable {
    var items: Int
    /// By the name of the operation; empty if the size was skipped.
    var times: [String: Summary] = [:]
    /// Before and after the searches with all hits.
    var memory: SecretMemoryUse?
    var memoryAfterAll: SecretMemoryUse?
    /// Why the size was skipped.
    var note: String?

    subscript(operation: SecretOperation) -> Summary? { times[operation.rawValue] }
}

/// The measurements of one provider.
struct SecretProviderResults: Codable {
    var provider: SecretProviderKind
    /// In ascending order.
    var sizes: [SecretSizeResults] = []
    /// Why the provider was not measured.
    var note: String?

    subscript(items: Int) -> SecretSizeResults? { sizes.first { $0.items == items } }
}

/// Measures providers of the Secret Service, one after the other, each with growing collections.
struct SecretServiceBenchmark {
    let kinds: [SecretProviderKind]
    let programs: SecretProvider.Programs
    /// In ascending order.
    let sizes: [Int]
    /// The maximum time for a provider to store the items of one size, in seconds.
    let budget: Double
    let directory: String

    func run() throws -> SecretServiceReport {
        var report = SecretServiceReport(machine: .current(storing: directory), sizes: sizes)
        for kind in kinds { report.providers.append(try measure(kind)) }
        report.machine.loadAtEnd = Machine.load
        return report
    }

    private func measure(_ kind: SecretProviderKind) throws -> SecretProviderResults {
        var results = SecretProviderResults(provider: kind)
        let provider: SecretProvider
        do {
            provider = try SecretProvider(kind, programs, in: "\(directory)/\(kind.rawValue)")
        } catch let missing as MissingTool {
            results.note = missing.reason
            return results
        }
        var stored = 0
        var note: String?
        for size in sizes {
            if note == nil { note = try fill(provider, kind, &stored, to: size) }
            if let note {
                results.sizes.append(SecretSizeResults(items: size, note: note))
            } else {
                results.sizes.append(try measure(provider, kind, at: size))
            }
        }
        return results
    }

    /// Stores items until there are `size`; returns why that was given up.
    private func fill(
        _ provider: SecretProvider, _ kind: SecretProviderKind, _ stored: inout Int, to size: Int
    ) throws -> String? {
        ProgressLine.say("\(kind.title): storing to \(Text.grouped(size)) items")
        let end = Stopwatch.now() + UInt64(budget * 1e9)
        while stored < size {
            guard Stopwatch.now() < end else {
                return "storing was given up after \(Int(budget)) s, at \(Text.grouped(stored)) items"
            }
            try provider.client.store(BusItem(stored))
            stored += 1
        }
        return nil
    }

    private func measure(
        _ provider: SecretProvider, _ kind: SecretProviderKind, at size: Int
    ) throws -> SecretSizeResults {
        ProgressLine.say("\(kind.title): \(Text.grouped(size)) items")
        var results = SecretSizeResults(items: size)
        var picker = ItemPicker()
        for operation in SecretOperation.allCases {
            if operation == .searchAll { results.memory = provider.memory }
            var timings = Timings()
            // The first ones are not counted.
            for _ in 0..<2 { _ = try time(operation, provider.client, size, &picker) }
            let end = Stopwatch.now() + Self.maxNanoseconds
            for _ in 0..<operation.count {
                guard timings.summary.count < Self.minCount || Stopwatch.now() < end else { break }
                timings.append(try time(operation, provider.client, size, &picker))
            }
            results.times[operation.rawValue] = timings.summary
        }
        results.memoryAfterAll = provider.memory
        return results
    }

    private func time(
        _ operation: SecretOperation, _ client: SecretBusClient, _ size: Int, _ picker: inout ItemPicker
    ) throws -> UInt64 {
        let item = BusItem(picker.items(1, below: size).first?.number ?? 0)
        switch operation {
        case .ping: return try Stopwatch.time { try client.ping() }.nanoseconds
        case .store:
            let next = BusItem(size)
            let time = try Stopwatch.time { try client.store(next) }.nanoseconds
            // So that the collection keeps its size.
            try client.deleteLast()
            return time
        case .lookup: return try Stopwatch.time { try client.lookup(item) }.nanoseconds
        case .miss:
            let missing = BusItem(Item.maxSize + 1)
            return try Stopwatch.time { try client.miss(missing) }.nanoseconds
        case .searchAll:
            let (count, time) = try Stopwatch.time { try client.searchAll() }
            guard count == size else {
                throw BenchmarkFailure("a search for all \(size) items has found \(count)")
            }
            return time
        }
    }

    /// An operation is not repeated for longer, in nanoseconds.
    private static let maxNanoseconds: UInt64 = 20_000_000_000
    private static let minCount = 5
}
