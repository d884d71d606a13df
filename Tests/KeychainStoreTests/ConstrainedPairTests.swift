// SPDX-License-Identifier: Apache-2.0

@testable import Keybag
import KeychainModel
@testable import KeychainStore
import Testing

/// Pairs with constraints on a half.
@Suite("Pairs with constraints")
struct ConstrainedPairTests {
    /// The flags of the certificate and of the key of each pair, by its number.
    private static let flags: [(certificate: AccessControlFlags?, key: AccessControlFlags?)] = [
        (nil, nil), (nil, .devicePasscode), (nil, .biometryCurrentSet), (nil, .applicationPassword),
        (.applicationPassword, nil), (.biometryCurrentSet, nil),
    ]

    private static func store(in fixture: ConstraintFixture) throws {
        for (number, flags) in flags.enumerated() {
            let label = [UInt8(number)]
            var certificate = PairTests.item(
                .certificate, [.serialNumber: .data(label), .publicKeyHash: .data(label)])
            var key = PairTests.item(.key, [.applicationLabel: .data(label)])
            (certificate.accessControlFlags, key.accessControlFlags) = (flags.certificate, flags.key)
            _ = try fixture.store.add([certificate, key], binding: ConstraintFixture.binding())
        }
    }

    private static func result(_ fixture: ConstraintFixture, _ keys: ConstraintKeys?) throws -> PairSearchResult {
        var search = PairTests.search
        (search.needsCertificateData, search.keyData) = (true, .required)
        return try fixture.store.pairs(search, limit: nil, constraints: keys)
    }

    /// The numbers of the pairs, with the data of their halves.
    private static func texts(_ result: PairSearchResult) -> [UInt8: [String?]] {
        let pairs = result.pairs.map { pair in
            (pair.certificate[.publicKeyHash]?.canonicalBytes.first ?? 255, [pair.certificate.text, pair.key.text])
        }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    @Test("A lost half or a wrong password does not keep the other pairs from being returned")
    func failedHalves() throws {
        let fixture = try ConstraintFixture()
        try Self.store(in: fixture)
        let keys = try fixture.keys(passcode: "secret", set: ConstraintFixture.otherSet, password: "ape")
        let found = try Self.result(fixture, keys)
        #expect(
            Self.texts(found) == [0: ["cert", "keys"], 1: ["cert", "keys"], 3: ["cert", nil], 4: [nil, "keys"]])
        #expect(found.lost.count == 2 && Set(found.lost).count == 2)
        #expect(found.wrongPasswords.count == 2)
        let wrong = found.pairs.flatMap { [$0.certificate, $0.key] }.filter { $0.needsAuthentication != nil }
        #expect(Set(wrong.map(\.identifier)) == Set(found.wrongPasswords))
    }

    @Test("A person who satisfies every half gets every pair; without the person, halves state their needs")
    func satisfied() throws {
        let fixture = try ConstraintFixture()
        try Self.store(in: fixture)
        let all = try fixture.keys(passcode: "secret", set: ConstraintFixture.set, password: "app")
        let found = try Self.result(fixture, all)
        #expect(found.pairs.count == Self.flags.count && found.lost.isEmpty && found.wrongPasswords.isEmpty)
        #expect(Self.texts(found).values.allSatisfy { $0 == ["cert", "keys"] })
        let unsatisfied = try Self.result(fixture, nil)
        #expect(unsatisfied.pairs.count == Self.flags.count)
        #expect(Self.texts(unsatisfied)[3] == ["cert", nil])
    }
}
