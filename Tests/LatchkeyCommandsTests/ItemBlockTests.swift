// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
import LatchkeyCommands
import LatchkeyOperations
import LatchkeyService
import SecretMemory
import Testing

/// The block that programs parse, byte for byte (keychain-behaviour §8.3).
@Suite("Item blocks")
struct ItemBlockTests {
    let keychain: TestKeychain

    init() throws {
        keychain = try TestKeychain(.ephemeral)
    }

    @Test("the block of a generic password with every attribute")
    func generic() throws {
        keychain.security([
            "add-generic-password", "-a", "alice", "-s", "example.com", "-l", "Example – Alice", "-D", "kind", "-j",
            "back\\slash", "-G",
            "generic", "-c", "aapl", "-C", "note", "-w", "s3cret",
        ])
        try expectGolden(keychain.security("find-generic-password -g").description, "block-generic")
    }

    @Test("the block of a generic password with the fewest attributes")
    func bareGeneric() throws {
        _ = try keychain.service.by(CallerIdentity(executable: "x", isUserCommand: true)).add(
            ItemAddition(.genericPassword))
        try expectGolden(keychain.security("find-generic-password -g").description, "block-generic-bare")
    }

    @Test("the block of an internet password with every attribute")
    func internet() throws {
        keychain.security([
            "add-internet-password", "-a", "alice", "-s", "example.com", "-d", "realm", "-p", "/login", "-P", "443",
            "-r", "htps", "-t",
            "form", "-l", "Example", "-D", "Internet password", "-j", "two\nlines", "-c", "aapl", "-C", "webp", "-w",
            "pä",
        ])
        try expectGolden(keychain.security("find-internet-password -g").description, "block-internet")
    }

    @Test("the block of an internet password with only account and server")
    func bareInternet() throws {
        keychain.security("add-internet-password -a alice -s example.com -w x")
        try expectGolden(keychain.security("find-internet-password").description, "block-internet-bare")
    }

    @Test("port 80 ends in a printable byte, port 443 does not; a protocol keeps its spaces")
    func numbers() {
        keychain.security("add-internet-password -a a -s s -P 80 -r ssh -w x")
        keychain.security("add-internet-password -a a -s s -P 443 -r htps -w x")
        let port80 = keychain.security("find-internet-password -P 80").output
        #expect(port80.contains("    \"port\"<uint32>=0x00000050  \"\\000\\000\\000P\"\n"))
        #expect(port80.contains("    \"ptcl\"<uint32>=\"ssh \"\n"))
        let port443 = keychain.security("find-internet-password -P 443").output
        #expect(port443.contains("    \"port\"<uint32>=0x000001BB \n"))
        #expect(port443.contains("    \"ptcl\"<uint32>=\"htps\"\n"))
    }

    @Test("flags that programs set are signed numbers of four bytes")
    func flags() throws {
        let attributes: [ItemAttribute: AttributeValue] = [
            .isInvisible: .number(1), .isNegative: .number(0), .scriptCode: .number(-1),
            .hasCustomIcon: .number(1 << 32),
        ]
        _ = try keychain.service.by(CallerIdentity(executable: "x", isUserCommand: true)).add(
            ItemAddition(.genericPassword, attributes: attributes))
        let block = keychain.security("find-generic-password").output
        #expect(block.contains("\"invi\"<sint32>=0x00000001 \n") && block.contains("\"nega\"<sint32>=0x00000000 \n"))
        #expect(block.contains("\"scrp\"<sint32>=0xFFFFFFFF \n") && block.contains("\"cusi\"<sint32>=0x00000000 \n"))
    }

    // MARK: Dumping

    @Test("dump-keychain prints every item of every class, with -d also the data")
    func dump() throws {
        let caller = CallerIdentity(executable: "x", isUserCommand: true)
        keychain.security("add-generic-password -a alice -s one -w s3cret")
        keychain.security("add-internet-password -a bob -s two")
        let certificate: [ItemAttribute: AttributeValue] = [
            .certificateType: .number(3), .certificateEncoding: .number(3), .issuer: .data([0x30, 0]),
            .serialNumber: .data([1]),
            .subject: .data([0x30, 0]), .label: .string("A certificate"),
        ]
        _ = try keychain.service.by(caller).add(
            ItemAddition(
                .certificate, attributes: certificate, secrets: ItemSecrets(data: SharedSecret(copying: [0x30, 0x80]))))
        let key: [ItemAttribute: AttributeValue] = [
            .keyClass: .number(1), .type: .number(73), .keySizeInBits: .number(256), .label: .string("A key"),
            .applicationLabel: .data(Array(repeating: 0xAB, count: 20)), .isPermanent: .number(1), .canSign: .number(1),
        ]
        _ = try keychain.service.by(caller).add(ItemAddition(.key, attributes: key))
        try expectGolden(keychain.security("dump-keychain -d").description, "dump-with-data")

        let plain = keychain.security("dump-keychain").output
        #expect(!plain.contains("data:") && !plain.contains("s3cret"))
        #expect(plain.split(separator: "\n").filter { $0.hasPrefix("keychain: ") }.count == 4)
        let withAccess =
            plain.replacing("\nkeychain: ", with: "\naccess: 0 entries\nkeychain: ") + "access: 0 entries\n"
        #expect(keychain.security("dump-keychain -air").output == withAccess)
    }

    @Test("dumping an empty keychain succeeds and prints nothing")
    func emptyDump() {
        #expect(keychain.security("dump-keychain -d") == Outcome(exit: 0, output: "", error: ""))
    }

    @Test("damaged items are skipped and reported")
    func damaged() throws {
        try expectGolden(security("dump-keychain", on: DamagedService()).description, "dump-damaged")
        try expectGolden(security("find-generic-password -a x", on: DamagedService()).description, "find-damaged")
    }

    @Test("output that cannot be written is a failure")
    func fullDisk() {
        keychain.security("add-generic-password -a alice -s one -w s3cret")
        for command in [
            "find-generic-password", "find-generic-password -w", "dump-keychain", "help", "status", "doctor",
        ] {
            let outcome = keychain.security(command, io: TestIO(outputFails: true))
            #expect(outcome.exit == 220, "\(command)")
            #expect(outcome.error.hasSuffix(": cannot write the output: No space left on device\n"))
        }
    }
}
