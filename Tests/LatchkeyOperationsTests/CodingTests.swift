// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
import LatchkeyOperations
import LatchkeyProtocol
import LinuxSystem
import Presence
import SecretMemory
import Testing

/// Documentation/Formats/wire-protocol.md: the allowed content of a frame, and that all other content is rejected with
/// its name.
@Suite("Messages")
struct CodingTests {
    @Test("WIRE-7: every request is decoded as it was encoded", arguments: Samples.requests.indices)
    func requests(_ index: Int) throws {
        let request = Samples.numbered(Samples.requests[index], number: 42)
        let again = try NumberedRequest(try request.frame())
        #expect(again.number == 42 && again.token == request.token)
        #expect(Self.shape(again.operation) == Self.shape(request.operation))
        #expect(again.isChange == request.isChange)
    }

    @Test("WIRE-7: every response is decoded as it was encoded", arguments: Samples.responses.indices)
    func responses(_ index: Int) throws {
        let response = Samples.responses[index]
        let again = try NumberedResponse(try NumberedResponse(number: 7, response).frame())
        #expect(again.number == 7)
        #expect(Self.shape(again.response) == Self.shape(response))
        #expect(again.response.moreFollows == response.moreFollows)
    }

    @Test("WIRE-4: no secret is in the message, and each arrives complete")
    func secretsApart() throws {
        let frame = try NumberedRequest(
            number: 1, token: Samples.token, UnlockKeychain(Samples.secret("a passcode that is long"))
        ).frame()
        #expect(!String(decoding: frame.message, as: UTF8.self).contains("passcode"))
        guard let unlock = try NumberedRequest(frame).operation as? UnlockKeychain else {
            Issue.record("a different request was decoded")
            return
        }
        #expect(unlock.passcode == Samples.secret("a passcode that is long"))
        let record = Samples.record
        guard
            case .content(let again as ItemRecord) = try NumberedResponse(
                try NumberedResponse(number: 1, .content(record)).frame()
            ).response
        else {
            Issue.record("a different response was decoded")
            return
        }
        #expect(again.secrets == record.secrets)
    }

    @Test("WIRE-8: a message that is truncated anywhere is rejected or is another valid message, and does not trap")
    func truncation() throws {
        for request in Samples.requests {
            let frame = try Samples.numbered(request).frame()
            for length in 0..<frame.message.count {
                _ = try? NumberedRequest(Frame(message: Array(frame.message.prefix(length)), secrets: frame.secrets))
            }
            #expect(throws: WireError.self) {
                try NumberedRequest(Frame(message: frame.message.dropLast(), secrets: frame.secrets))
            }
        }
        for response in Samples.responses {
            let frame = try NumberedResponse(number: 1, response).frame()
            for length in 0..<frame.message.count {
                _ = try? NumberedResponse(Frame(message: Array(frame.message.prefix(length)), secrets: frame.secrets))
            }
        }
    }

    @Test("WIRE-8: a message with any bit flipped is rejected or is another valid message, and does not trap")
    func bitFlips() throws {
        for request in Samples.requests {
            let frame = try Samples.numbered(request).frame()
            for bit in 0..<frame.message.count * 8 {
                var message = frame.message
                message[bit / 8] ^= 1 << (bit % 8)
                _ = try? NumberedRequest(Frame(message: message, secrets: frame.secrets))
                _ = try? NumberedResponse(Frame(message: message, secrets: frame.secrets))
            }
        }
    }

    @Test(
        "WIRE-9: a field that version 1 does not define is rejected, at every level of nesting", arguments: [0, 1, 2])
    func unknownFields(_ depth: Int) throws {
        // Field 15, a number: key 0x78, value 1.
        let unknown: [UInt8] = [0x78, 1]
        let message: [UInt8]
        switch depth {
        case 0: message = try NumberedRequest(number: 1, ReadStatus()).frame().message + unknown
        // Field 30 (status): key 0xF2 0x01, then the length of its content.
        case 1: message = [0xF2, 0x01, UInt8(unknown.count)] + unknown
        // Field 21 (copy_matching), in it field 1 (query), in it field 9 (match).
        default: message = [0xAA, 0x01, 6, 0x0A, 4, 0x4A, 2] + unknown
        }
        let error = #expect(throws: WireError.self) { try NumberedRequest(Frame(message: message)) }
        #expect("\(try #require(error))".contains("fields"), "\(String(describing: error))")
    }

    @Test("WIRE-18: the texts of a question are shortened, and longer ones are rejected")
    func longTexts() throws {
        let text = String(repeating: "é", count: 4000)
        let program = CallerIdentity(
            executable: text, declaredGroups: [text, "second"], sandbox: .application(group: text))
        let request = PresenceRequest(
            .passcode, user: 1, program: program, subject: .item(label: text, identifier: text), reason: text,
            place: .none)
        let event = AgentEvent.question(AgentQuestion(1, request, seconds: 1))
        let response = try NumberedResponse(NumberedResponse(number: 1, .content(event)).frame()).response
        guard case .content(let content) = response, case .question(let question)? = content as? AgentEvent else {
            Issue.record("the response must be a question")
            return
        }
        let short = String(repeating: "é", count: 512)
        let decoded = question.request(for: 1)
        #expect(decoded.reason == short && decoded.subject == .item(label: short, identifier: short))
        #expect(decoded.program.executable == String(repeating: "é", count: 2048))
        #expect(decoded.program.declaredGroups == [short] && decoded.program.sandbox == .application(group: short))

        let long = String(repeating: "x", count: 1025)
        let changes: [(inout WireQuestion) -> Void] = [
            { $0.reason = long }, { $0.item.label = long }, { $0.item.identifier = long },
            { $0.program.declaredGroup = long }, { $0.program.attestedGroup = long }, { $0.program.application = long },
            { $0.program.executable = String(repeating: "x", count: 4097) },
        ]
        for change in changes {
            var wire = WireQuestion()
            (wire.factor, wire.item) = (1, WireAskedItem())
            change(&wire)
            var event = WireAgentEvent()
            event.question = wire
            var message = WireResponse()
            message.agentEvent = event
            let bytes = try message.bytes()
            #expect(throws: WireError.self) { try NumberedResponse(Frame(message: bytes)) }
        }
    }

    @Test(
        "WIRE-10: unknown codes are rejected with their names",
        arguments: [
            // add { item_class: 9 }
            ([0xA2, 0x01, 2, 0x08, 9], "item class 9"),
            // add { item_class: 1, protection: 77 }
            ([0xA2, 0x01, 4, 0x08, 1, 0x28, 77], "protection class 77"),
            // add { item_class: 1, attributes { code: "????" text: "" } }
            ([0xA2, 0x01, 11, 0x08, 1, 0x12, 7, 0x0D, 0x3F, 0x3F, 0x3F, 0x3F, 0x12, 0], "attribute"),
            // repair { action: 3 }
            ([0x82, 0x02, 2, 0x08, 3], "repair 3"),
            // delete { synchronizable: 5 }
            ([0xBA, 0x01, 2, 0x20, 5], "scope 5"),
            // delete { at_most: -1 }, and a value above 32 bits
            ([0xBA, 0x01, 2, 0x40, 1], "limit is out of range: -1"),
            ([0xBA, 0x01, 6, 0x40, 0x80, 0x80, 0x80, 0x80, 0x20], "limit is out of range: 4294967296"),
            // delete { persistent_reference: 1 byte }
            ([0xBA, 0x01, 3, 0x2A, 1, 0], "persistent reference"),
            // delete { lookup_attributes: 1 byte }
            ([0xBA, 0x01, 3, 0x62, 1, 0], "lookup attributes"),
            // add { item_class: 1, content_type: "" }
            ([0xA2, 0x01, 4, 0x08, 1, 0x52, 0], "content type"),
            // change_settings { settings { grace_seconds: 70000 } }
            ([0xBA, 0x03, 6, 0x0A, 4, 0x08, 0xF0, 0xA2, 0x04], "grace period is out of range: 70000"),
            // generate_key { kind { type: 7 } }
            ([0xD2, 0x05, 4, 0x0A, 2, 0x08, 7], "key type 7"),
            // use_key { reference: 20 bytes, use: 11 }
            ([0xE2, 0x05, 24, 0x0A, 20] + PersistentReference(.key, .random()).bytes + [0x10, 11], "use 11"),
            // move_root { root: "tpm", registers: [7, 0] }, [0, 0], and a number above 8 bits
            ([0xCA, 0x03, 9, 0x0A, 3] + Array("tpm".utf8) + [0x22, 2, 7, 0], "not ascending"),
            ([0xCA, 0x03, 9, 0x0A, 3] + Array("tpm".utf8) + [0x22, 2, 0, 0], "not ascending"),
            ([0xCA, 0x03, 9, 0x0A, 3] + Array("tpm".utf8) + [0x22, 2, 0x80, 2], "not ascending"),
            // use_key { reference: 20 bytes, use: 1, hash: 3 }; raw signatures take no hash
            ([0xE2, 0x05, 26, 0x0A, 20] + PersistentReference(.key, .random()).bytes + [0x10, 1, 0x18, 3], "use 1"),
            // use_key { reference: 20 bytes, use: 3, hash: 9 }
            ([0xE2, 0x05, 26, 0x0A, 20] + PersistentReference(.key, .random()).bytes + [0x10, 3, 0x18, 9], "hash 9"),
            // add_identities { one half }, { an addition of class 9, an empty one }
            ([0xC2, 0x01, 2, 0x0A, 0], "1 halves"), ([0xC2, 0x01, 6, 0x0A, 2, 0x08, 9, 0x0A, 0], "class 9"),
            // an empty message
            ([], "without an operation"),
        ] as [([UInt8], String)])
    func unknownCodes(_ message: [UInt8], _ words: String) throws {
        // token: 16 bytes
        let token: [UInt8] = [0x12, 16] + Samples.token
        let error = #expect(throws: WireError.self) { try NumberedRequest(Frame(message: token + message)) }
        #expect("\(try #require(error))".contains(words), "\(String(describing: error))")
    }

    @Test("More identities than one message may hold are rejected before any of them is decoded")
    func manyIdentities() throws {
        for (count, isTooMany) in [
            (2 * IdentityAddition.maxCount, false), (2 * IdentityAddition.maxCount + 2, true), (1 << 16, true),
        ] {
            // Empty halves. They are not valid items.
            let halves = (0..<count).flatMap { _ in [0x0A, 0] as [UInt8] }
            let length = [
                UInt8(halves.count & 0x7F | 0x80), UInt8(halves.count >> 7 & 0x7F | 0x80),
                UInt8(halves.count >> 14 & 0x7F),
            ]
            let message: [UInt8] = [0x12, 16] + Samples.token + [0xC2, 0x01] + length + halves
            let error = #expect(throws: WireError.self) { try NumberedRequest(Frame(message: message)) }
            #expect("\(try #require(error))".contains("halves of identities") == isTooMany)
        }
    }

    @Test("A query with more access groups than a message may have is rejected")
    func manyGroups() throws {
        for (count, isTooMany) in [(1024, false), (1025, true)] {
            var query = ItemQuery(.genericPassword)
            query.accessGroups = (0..<count).map { "group \($0)" }
            let message = try NumberedRequest(number: 1, CopyItems(query, returning: .attributes)).frame().message
            guard isTooMany else {
                _ = try NumberedRequest(Frame(message: message))
                continue
            }
            let error = #expect(throws: WireError.self) { try NumberedRequest(Frame(message: message)) }
            #expect("\(try #require(error))".contains("1025 access groups"))
        }
    }

    @Test("WIRE-5: the message refers to each secret exactly once")
    func secretPlaces() throws {
        let frame = try NumberedRequest(number: 1, UnlockKeychain(Samples.secret("p"))).frame()
        let none = #expect(throws: WireError.self) { try NumberedRequest(Frame(message: frame.message, secrets: [])) }
        #expect("\(try #require(none))".contains("secret 0 does not exist"))
        let two = #expect(throws: WireError.self) {
            try NumberedRequest(Frame(message: frame.message, secrets: frame.secrets + [Samples.secret("more")]))
        }
        #expect("\(try #require(two))".contains("does not refer to"))
        // change_passcode { old: 0, new: 0 }
        let twice: [UInt8] = [0x12, 16] + Samples.token + [0x9A, 0x03, 0]
        let same = #expect(throws: WireError.self) {
            try NumberedRequest(Frame(message: twice, secrets: frame.secrets))
        }
        #expect("\(try #require(same))".contains("referred to twice"))
    }

    @Test("WIRE-11: a change without a token of 16 bytes is rejected")
    func tokens() throws {
        for token in [[], [1], [UInt8](repeating: 0, count: 17)] as [[UInt8]] {
            let frame = try NumberedRequest(number: 1, token: token, DeleteItems(ItemQuery(.key))).frame()
            let error = #expect(throws: WireError.self) { try NumberedRequest(frame) }
            #expect("\(try #require(error))".contains("token"))
        }
    }

    @Test("WIRE-12: a hello of another version is rejected with both versions, for any further content")
    func versions() throws {
        // hello { version: 999, and a field that version 1 does not define }
        let error = #expect(throws: WireError.self) {
            try NumberedRequest(Frame(message: [0x52, 5, 0x08, 0xE7, 0x07, 0x78, 1]))
        }
        #expect("\(try #require(error))" == "unsupported protocol version 999, expected version 1")
    }

    @Test("Random bytes are rejected, and do not trap")
    func randomBytes() {
        for _ in 0..<20_000 {
            let bytes = RandomBytes.array(count: Int.random(in: 0..<64))
            _ = try? NumberedRequest(Frame(message: bytes, secrets: [Samples.secret("x")]))
            _ = try? NumberedResponse(Frame(message: bytes, secrets: [Samples.secret("x")]))
        }
    }

    /// Returns a text to compare two messages by: secrets are shown as their bytes, sets and
    /// dictionaries in order.
    private static func shape(_ value: Any) -> String {
        switch value {
        case let secret as SharedSecret: return secret.withUnsafeBytes { "secret(\(Array($0)))" }
        case let attributes as [ItemAttribute: AttributeValue]:
            return attributes.map { "\($0.key): \(shape($0.value))" }.sorted().joined(separator: ", ")
        case let secrets as [ItemAttribute: SharedSecret]:
            return secrets.map { "\($0.key): \(shape($0.value))" }.sorted().joined(separator: ", ")
        case let references as Set<PersistentReference>:
            return references.map { "\($0.bytes)" }.sorted().joined(separator: ", ")
        case let open as Set<ProtectionClass>: return open.map(\.rawValue).sorted().joined(separator: ", ")
        default:
            let mirror = Mirror(reflecting: value)
            guard !mirror.children.isEmpty else { return "\(value)" }
            let name = mirror.displayStyle == .enum ? "\(mirror.children.first?.label ?? "")" : "\(type(of: value))"
            return name + "(" + mirror.children.map { "\($0.label ?? ""): \(shape($0.value))" }.joined(separator: ", ")
                + ")"
        }
    }
}
