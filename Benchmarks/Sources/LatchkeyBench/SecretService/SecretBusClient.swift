// SPDX-License-Identifier: Apache-2.0

import CSecretBus
import Glibc

/// A client of the Secret Service, the same for every provider: one connection, and one session without
/// encryption.
final class SecretBusClient {
    private let client: OpaquePointer

    /// Connects to the bus.
    init(address: String) throws {
        var status: Int32 = 0
        guard let client = secret_bus_open(address, &status) else { throw BenchmarkFailure("no memory for a client") }
        self.client = client
        guard status >= 0 else { throw failure }
    }

    deinit { secret_bus_close(client) }

    /// The process that provides the service; nil if none does yet.
    func provider() throws -> pid_t? {
        let process = try require(secret_bus_provider(client))
        return process == 0 ? nil : pid_t(process)
    }

    func openSession() throws { try require(secret_bus_begin(client)) }

    // MARK: Calls

    /// A call of the bus itself.
    func ping() throws { try require(secret_bus_ping(client)) }

    func store(_ item: BusItem) throws {
        _ = try item.lend { attributes, secret in
            try require(item.label.withCString { secret_bus_store(client, $0, attributes, secret) })
        }
    }

    func deleteLast() throws { try require(secret_bus_delete_last(client)) }

    /// Finds an item by its service and its user, and gets its secret.
    func lookup(_ item: BusItem) throws {
        let count = try item.lend(withApplication: false) { attributes, secret in
            try require(secret_bus_lookup(client, attributes, secret))
        }
        guard count == 1 else { throw BenchmarkFailure("\(item.label): \(count) secrets instead of one") }
    }

    /// Searches for the service and the user of an item that does not exist.
    func miss(_ item: BusItem) throws {
        let count = try item.lend(withApplication: false) { attributes, _ in
            try require(secret_bus_search(client, attributes))
        }
        guard count == 0 else { throw BenchmarkFailure("\(item.label): \(count) items instead of none") }
    }

    /// Searches for all items; returns their number.
    func searchAll() throws -> Int {
        try BusItem.application.withCString { application in
            var attributes = secret_bus_attributes(application: application, service: nil, username: nil)
            return Int(try require(secret_bus_search(client, &attributes)))
        }
    }

    @discardableResult
    private func require<Number: SignedInteger>(_ result: Number) throws -> Number {
        guard result >= 0 else { throw failure }
        return result
    }

    private var failure: BenchmarkFailure { BenchmarkFailure(String(cString: secret_bus_problem(client))) }
}

/// An item that its number determines.
struct BusItem {
    private let service: String
    private let username: String
    private let secret: String
    let label: String

    init(_ number: Int) {
        (service, username) = ("service-\(number).example.com", "user-\(number)")
        (secret, label) = ("secret-\(number)-of-some-length", "item \(number)")
    }

    /// The application attribute of all items.
    static let application = "latchkey-bench"

    /// Lends the attributes and the secret as C values.
    func lend<Result>(
        withApplication: Bool = true,
        _ body: (UnsafePointer<secret_bus_attributes>, UnsafePointer<CChar>) throws -> Result
    ) rethrows -> Result {
        try Self.application.withCString { application in
            try service.withCString { service in
                try username.withCString { username in
                    try secret.withCString { secret in
                        var attributes = secret_bus_attributes(
                            application: withApplication ? application : nil, service: service, username: username)
                        return try body(&attributes, secret)
                    }
                }
            }
        }
    }
}
