// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
@testable import SecretService
import SystemBus
import Testing

@Suite("Paths of the Secret Service")
struct SecretPathTests {
    @Test(
        "Names of collections have one path each, and are read from it",
        arguments: ["login", "Default keyring", "Büro/1", "_", "a_b", "\u{1F511}", String(repeating: "é", count: 64)])
    func names(_ text: String) throws {
        let name = try #require(CollectionName(text))
        #expect(SecretPath(name.path) == .collection(.name(name)))
        let item = ItemReference(name, try #require(SecretItemID([0, 0x1F, 0xFF])))
        #expect(item.path.text.hasSuffix("/001fff"))
        #expect(SecretPath(item.path) == .item(.name(name), item.item))
    }

    @Test("Composed and decomposed names are different collections")
    func composed() throws {
        let (one, other) = (try #require(CollectionName("\u{E9}")), try #require(CollectionName("e\u{301}")))
        #expect(one != other && one.path != other.path)
    }

    @Test("The name of a new collection resembles its label, and is unused")
    func unused() throws {
        let used = Set(["Work", "Work 2"].compactMap { CollectionName($0) })
        #expect(CollectionName.unused(for: "Work") { used.contains($0) } == CollectionName("Work 3"))
        #expect(CollectionName.unused(for: "") { _ in false } == CollectionName("collection"))
        let long = try #require(CollectionName.unused(for: String(repeating: "x", count: 500)) { _ in false })
        #expect(long.text.utf8.count <= CollectionName.maxLength)
    }

    @Test("Every input of the fuzzer's corpus is read or refused", .enabled(if: PrivateBus.isInstalled))
    func corpus() throws {
        var (accepted, refused) = (0, 0)
        var bus = try #require(WireBus())
        for (name, bytes) in try FuzzCorpus.inputs("bus-messages") {
            if !bus.isOpen { bus = try #require(WireBus()) }
            let outcome = BusMessageInput.read(bytes, on: bus)
            #expect(outcome.fault == nil, "\(name)")
            if outcome.isAccepted { accepted += 1 } else { refused += 1 }
        }
        #expect(accepted >= 10 && refused >= 4, "\(accepted) accepted, \(refused) refused")
    }
}
