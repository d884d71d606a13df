// SPDX-License-Identifier: Apache-2.0

@testable import Keybag
import KeychainModel
@testable import KeychainStore
import LinuxSystem
import SecretMemory
import Testing

/// The decoders of both halves accept only encodings that the format allows
/// (Documentation/Formats/keychain-database.md).
@Suite("Coding of rows")
struct CodingTests {
    private let clear = ClearColumns(
        identifier: .random(), itemClass: .genericPassword, protection: .whenUnlocked, generation: 1, revision: 1,
        isSynchronizable: false,
        isTombstone: false)

    @Test("KDB-26: encoded metadata is decoded; a prefix of it, or metadata with extra bytes, is refused")
    func roundTrip() throws {
        let record = Sample.item("alice")
        let bytes = MetadataCoding.encode(record)
        #expect(try decode(bytes).attributes == record.attributes)
        // Each of these fields is required.
        let needed = fields(valid)
        for count in needed.indices { #expect(throws: RowDamage.self) { try decode(Array(needed.prefix(count))) } }
        #expect(throws: RowDamage.self) { try decode(bytes + [0]) }
        for name in ["agrp", "cdat", "mdat", "grad", "mker"] {
            #expect(throws: RowDamage.self, "\(name)") { try decode(fields(valid.filter { $0.name != name })) }
        }
    }

    @Test("KDB-25: fields must be in order, unique and of a known type")
    func order() throws {
        #expect(try decode(fields(valid)).created == 1)
        #expect(throws: RowDamage.self) { try decode(fields(valid.reversed())) }
        #expect(throws: RowDamage.self) { try decode(fields(valid + [valid[valid.count - 1]])) }
        #expect(throws: RowDamage.self) { try decode(fields(replacing("mker", with: (9, [1])))) }
        #expect(throws: RowDamage.self) { try decode(fields(replacing("mker", with: (1, [0xFF])))) }
        #expect(throws: RowDamage.self) { try decode(fields(replacing("cdat", with: (4, [1])))) }
        #expect(throws: RowDamage.self) { try decode(fields(replacing("grad", with: (3, [0, 0, 0, 0, 0, 0, 0, 7])))) }
    }

    @Test(
        "KDB-26, KDB-28: names of another class, of the system or of secrets are refused in the metadata half",
        arguments: ["srvr", "zzzz", "sync", "binn", "data"])
    func foreignNames(_ name: String) {
        let extended = (valid + [(name, 1, Array("x".utf8))]).sorted { $0.name < $1.name }
        #expect(throws: RowDamage.self) { try decode(fields(extended)) }
    }

    @Test("An access control that is not a number is damage, not a missing access control")
    func accessControl() throws {
        let flags: [UInt8] = [0, 0, 0, 0, 0x40, 0, 0, 0]
        #expect(try decode(fields([("accc", 3, flags)] + valid)).accessControlFlags == .privateKeyUsage)
        #expect(throws: RowDamage.self) { try decode(fields([("accc", 2, flags)] + valid)) }
    }

    @Test("T117, KDB-27: a date that is not finite becomes the reference date, and the item stays readable")
    func badDate() throws {
        for bad in [Double.nan, .infinity, -.infinity] {
            let record = try decode(fields(replacing("cdat", with: (4, bad.bitPattern.bigEndianBytes))))
            #expect(record.created == 0)
        }
    }

    @Test("KDB-88: an item with an unreadable access list is not damaged")
    func accessList() throws {
        let list: [UInt8] = [9]
        #expect(try decode(fields([("acls", 2, list)] + valid)).attributes[.accessList] == .data(list))
    }

    /// Values of each type, among them numbers and dates in other encodings than their canonical one.
    static let values: [AttributeValue] = [
        .string(""), .string("alice"), .string("a\u{301}"), .data([]), .data(Array("alice".utf8)), .data([0xFF, 0]),
        .number(0), .number(-1), .number(1 << 40), .data([0, 0, 0, 0]), .date(0), .date(-0.0), .date(1.5),
    ]

    @Test("The fields of a half match a search exactly as its record does, and have the same tokens", arguments: values)
    func fields(_ stored: AttributeValue) throws {
        var record = Sample.item("alice")
        record.attributes[.account] = stored
        record.attributes[.comment] = stored
        let key = DeviceKey.ephemeral()
        let tokens = SearchTokens(
            Keyring(try DeviceKeybag(opening: try DeviceKeybag.create(deviceKey: key), deviceKey: key), nil))
        try MetadataCoding.encode(record).withUnsafeBytes { bytes in
            let fields = try MetadataFields(bytes, clear: clear)
            #expect(try fields.record().attributes == record.attributes)
            #expect(fields.bareRecord.attributes.isEmpty)
            #expect(tokens.match(fields, tokens.columns(of: record)))
            let group = tokens.group(Sample.group)
            #expect(tokens.primaryKey(of: fields, group: group) == tokens.primaryKey(of: record, group: group))
            for attribute in [ItemAttribute.account, .comment, .generic, .isInvisible, .accessible, .synchronizable] {
                for wanted in Self.values + [.string("ak")] {
                    let search = Sample.search([attribute: wanted])
                    #expect(search.matches(fields) == search.matches(try fields.record()), "\(attribute) \(wanted)")
                }
            }
            #expect(Sample.search([.account: stored]).matches(fields))
            #expect(!ItemSearch(.genericPassword, groups: .all(.attested)).matches(fields))
        }
    }

    @Test("KDB-28: the secret half holds only secrets of the class")
    func secrets() throws {
        let secrets = ItemSecrets(
            data: SharedSecret(copying: [1, 2]), attributes: [.extraNotes: SharedSecret(copying: [3])])
        let bytes = SecretsCoding.encode(secrets).withUnsafeBytes { Array($0) }
        #expect(try decodeSecrets(bytes, of: .internetPassword) == secrets)
        #expect(throws: RowDamage.self) { try decodeSecrets(bytes, of: .genericPassword) }
        #expect(throws: RowDamage.self) { try decodeSecrets(fields([("data", 2, [1])]), of: .genericPassword) }
        #expect(throws: RowDamage.self) { try decodeSecrets(fields([("acct", 5, [1])]), of: .genericPassword) }
        #expect(try decodeSecrets([], of: .genericPassword) == ItemSecrets())
    }

    @Test("KDB-24: only the padding for the length of the content is accepted")
    func padding() throws {
        func content(_ bytes: [UInt8]) throws -> Int { try bytes.withUnsafeBytes { try Padding.content(of: $0).count } }
        #expect(try content([0, 0, 0, 5] + .init(repeating: 0, count: 60)) == 5)
        for bad in [
            [], [0, 0, 0], [0, 0, 0, 5] + .init(repeating: 0, count: 59),
            [0, 0, 0, 61] + .init(repeating: 0, count: 60),
        ]
            as [[UInt8]]
        {
            #expect(throws: RowDamage.self) { try content(bad) }
        }
        #expect(throws: RowDamage.self) { try content([0xFF, 0xFF, 0xFF, 0xFF] + .init(repeating: 0, count: 60)) }
    }

    @Test(
        "A token of the wrong length is damage, in every column",
        arguments: ["primary_key", "access_group", "labl", "svce"], ["x''", "x'00'", "zeroblob(17)", "'text'", "7"])
    func malformedTokens(_ column: String, _ value: String) throws {
        let fixture = try StoreFixture()
        var store = try fixture.open()
        _ = try store.add(Sample.item("alice"))
        _ = try store.add(Sample.item("bob"))
        store.close()
        try fixture.tamper("UPDATE item SET \(column) = \(value) WHERE id = (SELECT min(id) FROM item)")
        store = try fixture.open()
        let search = ItemSearch(.genericPassword, groups: .all(.claimed), synchronizable: .any)
        for withAttributes in [true, false] {
            let result = try store.search(search, limit: nil, withSecrets: true, withAttributes: withAttributes)
            #expect(result.records.count == 1 && result.damaged.count == 1)
        }
        #expect(try store.inspector.inspect().damaged.count == 1)
    }

    @Test("A search without attributes finds the same items with the same data, for every condition")
    func withoutAttributes() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        for account in ["alice", "bob", "carol"] { _ = try store.add(Sample.item(account)) }
        var byText = MatchOptions()
        byText.ignoresCase = true
        let searches: [(search: ItemSearch, accounts: [String])] = [
            (Sample.search(), ["alice", "bob", "carol"]),
            (Sample.search([.account: .string("bob")]), ["bob"]),
            (Sample.search([.account: .data(Array("bob".utf8)), .comment: .string("none")]), []),
            (Sample.search([.accessible: .string("ak")]), ["alice", "bob", "carol"]),
            (
                ItemSearch(
                    .genericPassword, groups: .only([Sample.group]), attributes: [.label: .string("LABEL OF BOB")],
                    synchronizable: .any, match: byText), ["bob"]
            ),
        ]
        for (search, accounts) in searches {
            let whole = try store.search(search, limit: nil, withSecrets: true)
            let bare = try store.search(search, limit: nil, withSecrets: true, withAttributes: false)
            #expect(bare.records.compactMap(\.text) == accounts.map { "data of \($0)" })
            #expect(whole.records.map(\.identifier) == bare.records.map(\.identifier))
            #expect(whole.records.map(\.accessGroup) == bare.records.map(\.accessGroup))
        }
        #expect(
            try store.search(Sample.search(), limit: nil, withSecrets: true, withAttributes: false).records
                .allSatisfy { $0.attributes.isEmpty })
        withExtendedLifetime(fixture) {}
    }

    @Test(
        "KDB-38: an invalid value in a plaintext column is damage, and does not trap",
        arguments: [
            "uuid = x'00'", "class = 9", "class = -1", "protection = 300", "generation = -1", "revision = -5",
            "sync = 2", "tombstone = 9",
        ])
    func impossibleColumns(_ change: String) throws {
        let fixture = try StoreFixture()
        var store = try fixture.open()
        _ = try store.add(Sample.item("alice"))
        store.close()
        try fixture.tamper("UPDATE item SET \(change)")
        store = try fixture.open()
        #expect(try store.search(Sample.search(), limit: nil, withSecrets: true).records.isEmpty)
        #expect(try store.inspector.inspect().damaged.count == 1)
    }

    // MARK: Bytes

    private typealias RawField = (name: String, type: UInt8, value: [UInt8])

    private var valid: [RawField] {
        [
            ("agrp", 1, Array("G1".utf8)), ("cdat", 4, (1.0).bitPattern.bigEndianBytes),
            ("grad", 3, [0, 0, 0, 0, 0, 0, 0, 1]),
            ("mdat", 4, (2.0).bitPattern.bigEndianBytes), ("mker", 1, Array("/usr/bin/example".utf8)),
        ]
    }

    private func replacing(_ name: String, with content: (UInt8, [UInt8])) -> [RawField] {
        valid.map { $0.name == name ? (name, content.0, content.1) : $0 }
    }

    private func fields(_ fields: [RawField]) -> [UInt8] {
        fields.flatMap { Array($0.name.utf8) + [$0.type] + UInt32($0.value.count).bigEndianBytes + $0.value }
    }

    private func decode(_ bytes: [UInt8]) throws -> ItemRecord {
        try bytes.withUnsafeBytes { try MetadataCoding.decode($0, clear: clear) }
    }

    private func decodeSecrets(_ bytes: [UInt8], of itemClass: ItemClass) throws -> ItemSecrets {
        try bytes.withUnsafeBytes { try SecretsCoding.decode($0, of: itemClass) }
    }
}
