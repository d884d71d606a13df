// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainModel
import KeychainSessions
import KeychainTesting
import LatchkeyOperations
import LatchkeyProtocol
@testable import LatchkeyServer
@_spi(Testing) import LatchkeyService
import LinuxSystem
import SecretMemory
import Testing

/// Searches that pass their results on in parts: no part is as large as the keychain.
@Suite("Searches in parts")
struct PartedSearchTests {
    private static let count = 700
    private let caller = CallerIdentity(executable: "/usr/bin/example", declaredGroups: ["G1"])

    private func service(of keychain: TestKeychain) -> any KeychainService {
        (keychain.service as? RoutedService)?.service(for: caller) ?? keychain.service
    }

    private func fill(_ service: any KeychainService, _ numbers: Range<Int> = 0..<count) throws {
        for number in numbers { _ = try service.by(caller).add(Items.addition("item-\(number)")) }
    }

    /// The parts of a search, since it last began.
    private func parts(
        _ service: any KeychainService, _ query: ItemQuery, returning: ReturnTypes = .attributes
    ) throws -> [[String]] {
        var parts: [[String]] = []
        try service.by(caller).copyMatching(query, returning: returning) {
            parts = []
        } inParts: { part in
            parts.append(part.records.compactMap { $0[.account]?.text })
        }
        return parts
    }

    @Test(
        "The parts have every item once, in the order of the whole result, and a bounded number each",
        arguments: [Backend.onDisk, .daemon])
    func complete(_ backend: Backend) throws {
        let keychain = try TestKeychain(backend)
        let service = service(of: keychain)
        try fill(service)
        let found = try parts(service, Items.query(limit: .all), returning: [.attributes, .data])
        #expect(found.joined().elementsEqual((0..<Self.count).map { "item-\($0)" }))
        #expect(found.count >= 3 && found.allSatisfy { $0.count <= 256 }, "\(found.map(\.count))")
        // The answers of other calls stay the same.
        let whole = try service.by(caller).copyMatching(Items.query(limit: .all), returning: .attributes)
        #expect(whole.records.count == Self.count)
        #expect(try parts(service, Items.query("item-5", limit: .all)) == [["item-5"]])
        #expect(try parts(service, Items.query("none", limit: .all)).joined().isEmpty)
    }

    @Test("Of many items with a long attribute, a part has only a few")
    func size() throws {
        let keychain = try TestKeychain(.onDisk)
        var item = Items.addition("large", data: String(repeating: "x", count: 100_000))
        for number in 0..<12 {
            item.attributes[.account] = .string("large-\(number)")
            _ = try keychain.service.by(caller).add(item)
        }
        let found = try parts(keychain.service, Items.query(limit: .all), returning: [.attributes, .data])
        #expect(found.joined().count == 12 && found.allSatisfy { $0.count <= 3 }, "\(found.map(\.count))")
    }

    @Test("The log of the daemon counts the items of all parts, and names their group")
    func log() throws {
        let fixture = try ServerFixture()
        let client = try fixture.client()
        for number in 0..<300 { #expect(try client.ask(AddItem(Items.addition("item-\(number)"))).problem == nil) }
        let (part, parts) = try collect(client, CopyItems(Items.query(limit: .all), returning: .attributes))
        #expect(parts >= 2 && part.auditedCount == 300 - 256)
        let log = try #require(try fixture.server.provider.keychain(of: geteuid()).audit)
        let lines = try log.reading(after: 0, since: nil).nextPart(length: .max).lines
        let line = try #require(lines.last { $0.contains("\"copy\"") })
        #expect(line.contains("300"), "\(line)")
    }

    private func collect(_ client: RawClient, _ operation: CopyItems) throws -> (last: FoundItems, count: Int) {
        try client.send(operation)
        var count = 0
        while true {
            count += 1
            guard case .content(let part as FoundItems)? = try client.receive() else { throw Missing() }
            if !part.moreFollows { return (part, count) }
        }
    }

    private struct Missing: Error {}

    @Test("Parts of two keychains follow each other; one that may be locked is passed over as a whole")
    func searchList() throws {
        let (first, second) = (try TestKeychain(.onDisk), try TestKeychain(.onDisk))
        try fill(first.service, 0..<300)
        try fill(second.service, 300..<600)
        let name = try #require(KeychainName("build"))
        let searched = SearchedKeychains(
            [name: .success(first.service), .login: .success(second.service)], search: [name, .login],
            defaultKeychain: name)
        let all = try parts(searched, Items.query(limit: .all))
        #expect(all.joined().elementsEqual((0..<600).map { "item-\($0)" }) && all.count == 4)
        let passcode = SharedSecret(copying: "a passcode".utf8)
        try first.service.administrator.setPasscode(passcode) { _, _ in }
        #expect(try parts(searched, Items.query(limit: .all)).joined().count == 600)
        try first.service.administrator.lock(immediately: true)
        let rest = try parts(searched, Items.query(limit: .all))
        #expect(rest.joined().elementsEqual((300..<600).map { "item-\($0)" }))
        try second.service.administrator.setPasscode(passcode) { _, _ in }
        try second.service.administrator.lock(immediately: true)
        let error = #expect(throws: KeychainError.self) { try parts(searched, Items.query(limit: .all)) }
        #expect(error?.status == .interactionNotAllowed)
    }
}
