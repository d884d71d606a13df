// SPDX-License-Identifier: Apache-2.0

import KeychainTesting
import SecretMemory
import SecretServiceClient
import SecretTransfer
import SystemBus
import Testing

/// Services that answer something else than the specification says.
@Suite("Hostile services", .enabled(if: PrivateBus.isInstalled, "dbus-daemon is not installed"))
struct HostileServiceTests {
    private static func items(_ count: Int) -> [FakeSecretService.Item] {
        (0..<count).map { FakeSecretService.Item(attributes: ["n": "\($0)"], secret: "secret \($0)") }
    }

    /// Imports three items; `hook` answers in place of the service.
    private static func run(
        hook: @escaping FakeSecretService.Hook
    ) throws -> (run: ImportRun, keychain: TestKeychain) {
        let (bus, keychain) = (try PrivateBus(), try TestKeychain(.ephemeral))
        let service = try FakeSecretService(on: bus, [.init(items: items(3))], hook: hook)
        defer { service.end() }
        return (keychain.importKeyring("--bus", bus.address, "--json"), keychain)
    }

    /// The fault in the properties of an item.
    enum WrongProperties: CaseIterable {
        case none, numberAsLabel, longLabel, textAsAttributes, numbersInAttributes, repeatedName, manyAttributes
        case veryManyAttributes, textAsTime

        /// The properties in place of the right ones; nil for an answer without any.
        var values: [String: BusVariant]? {
            switch self {
            case .none: return nil
            case .numberAsLabel: return ["Label": BusVariant(UInt32(1))]
            case .longLabel: return ["Label": BusVariant(String(repeating: "x", count: 20 << 20))]
            case .textAsAttributes: return ["Attributes": BusVariant("a")]
            case .numbersInAttributes: return ["Attributes": BusVariant(["a": UInt32(1)])]
            case .repeatedName:
                let entries = ["1", "2"].map { BusValue.Entry(.string("a"), .string($0)) }
                return ["Attributes": BusVariant(BusValue.dictionary(key: .string, value: .string, entries))]
            case .manyAttributes: return ["Attributes": Self.attributes(200)]
            // More than are decoded.
            case .veryManyAttributes: return ["Attributes": Self.attributes(140_000)]
            case .textAsTime: return ["Created": BusVariant("yesterday")]
            }
        }

        private static func attributes(_ count: Int) -> BusVariant {
            let entries = (0..<count).map { BusValue.Entry(.string("\($0)"), .string("")) }
            return BusVariant(BusValue.dictionary(key: .string, value: .string, entries))
        }
    }

    @Test(
        "An item with wrong properties is left out, and the others are imported", .long,
        arguments: WrongProperties.allCases)
    func wrongProperties(_ wrong: WrongProperties) throws {
        let values = wrong.values
        let (run, keychain) = try Self.run { call, _ in
            guard call.path == FakeSecretService.path(0, 1), call.member == "GetAll" else { return false }
            let right: [String: BusVariant] = [
                "Label": BusVariant("b"), "Attributes": BusVariant(["b": "1"]), "Locked": BusVariant(false),
                "Created": BusVariant(UInt64(1)), "Modified": BusVariant(UInt64(1)),
            ]
            let merged = values.map { right.merging($0) { $1 } } ?? [:]
            call.answer([merged.busValue])
            return true
        }
        #expect(run.status != 0, "\(run)")
        #expect(try run.report().counts == [2, 0, 0, 1])
        #expect(try Set(keychain.passwords().map(\.secret)) == ["secret 0", "secret 2"])
    }

    @Test("A secret that is missing, malformed, or of another session is left out", arguments: 0..<4)
    func wrongSecrets(_ kind: Int) throws {
        let wrong = FakeSecretService.path(0, 1)
        let (run, keychain) = try Self.run { call, service in
            guard call.member == "GetSecrets" else { return false }
            var arguments = call.arguments
            call.answer {
                let entries = try arguments.next([ObjectPath].self).compactMap { path -> BusValue.Entry? in
                    let number = path == FakeSecretService.path(0, 0) ? 0 : path == wrong ? 1 : 2
                    let good = try service.transferred(Self.items(3)[number])
                    guard path == wrong else { return BusValue.Entry(.objectPath(path), good.busValue) }
                    let bad: TransferredSecret? =
                        switch kind {
                        case 0: nil
                        case 1:
                            TransferredSecret(
                                session: good.session, parameters: good.parameters,
                                value: SharedSecret(copying: [UInt8]([1, 2, 3])), contentType: "")
                        case 2:
                            TransferredSecret(
                                session: good.session, parameters: SharedSecret(copying: [UInt8]()), value: good.value,
                                contentType: "")
                        default:
                            TransferredSecret(
                                session: "/other", parameters: good.parameters, value: good.value, contentType: "")
                        }
                    return bad.map { BusValue.Entry(.objectPath(path), $0.busValue) }
                }
                return [FakeSecretService.secrets(entries)]
            }
            return true
        }
        #expect(run.status == (kind == 0 ? 44 : 93), "\(run)")
        #expect(try run.report().counts == [2, 0, 0, 1])
        #expect(try Set(keychain.passwords().map(\.secret)) == ["secret 0", "secret 2"])
    }

    @Test("An answer with a secret that was not asked for, or of another type, is no secret of any item")
    func foreignSecrets() throws {
        let texts = [BusValue.Entry(.objectPath("/a"), .string("b"))]
        let answers: [[BusValue]] = [
            [FakeSecretService.secrets([])], [.string("a")], [],
            [.dictionary(key: .objectPath, value: .string, texts)],
        ]
        for answer in answers {
            let (run, keychain) = try Self.run { call, _ in
                guard call.member == "GetSecrets" else { return false }
                call.answer(answer)
                return true
            }
            #expect(run.status != 0, "\(run)")
            #expect(try run.report().counts == [0, 0, 0, 3])
            #expect(try keychain.passwords().isEmpty)
        }
        let (run, keychain) = try Self.run { call, service in
            guard call.member == "GetSecrets" else { return false }
            call.answer {
                let secret = try service.transferred(FakeSecretService.Item(secret: "foreign"))
                return [FakeSecretService.secrets([BusValue.Entry(.objectPath("/other"), secret.busValue)])]
            }
            return true
        }
        #expect(run.status == 93, "\(run)")
        #expect(try keychain.passwords().isEmpty)
    }

    @Test("Lists without end end the import before anything is stored", .long)
    func endless() throws {
        let many = (0...100_000).map { FakeSecretService.path(0, $0) }
        let (items, keychain) = try Self.run { call, _ in
            guard call.member == "GetAll", call.path == FakeSecretService.path(0) else { return false }
            let properties = [
                "Label": BusVariant("Login"), "Locked": BusVariant(false), "Items": BusVariant(many),
            ]
            call.answer([properties.busValue])
            return true
        }
        #expect(items.status == 42, "\(items)")
        #expect(try keychain.passwords().isEmpty)
        let collections = (0...256).map { FakeSecretService.path($0) }
        let (other, _) = try Self.run { call, _ in
            guard call.member == "GetAll", call.path == FakeSecretService.root else { return false }
            call.answer([["Collections": BusVariant(collections)].busValue])
            return true
        }
        #expect(other.status == 42, "\(other)")
        let long = String(repeating: "x", count: 30 << 20)
        let (texts, _) = try Self.run { call, _ in
            guard call.member == "GetAll", call.path.text.contains("/i") else { return false }
            let properties = [
                "Label": BusVariant(long), "Attributes": BusVariant(["a": "1"]), "Locked": BusVariant(false),
            ]
            call.answer([properties.busValue])
            return true
        }
        #expect(texts.status == 42 && texts.error.contains("bytes of labels and attributes"), "\(texts.error)")
    }

    @Test("A service that ends in the middle ends the import; the same command continues it")
    func ends() throws {
        let (bus, keychain) = (try PrivateBus(), try TestKeychain(.ephemeral))
        let items = Self.items(80)
        let (count, unanswered) = (EventCount(), Collected<BusMethodCall>())
        let service = try FakeSecretService(on: bus, [.init(items: items)]) { call, service in
            guard call.member == "GetSecrets" else { return false }
            count.increase()
            guard count.value == 2 else { return false }
            unanswered.append(call)
            service.end()
            return true
        }
        let run = keychain.importKeyring("--bus", bus.address, "--json")
        #expect(run.status == 53 && run.error.contains("the same command continues the import"), "\(run.error)")
        #expect(try run.report().counts == [32, 0, 0, 0])
        withExtendedLifetime(service) {}
        let next = try FakeSecretService(on: bus, [.init(items: items)])
        defer { next.end() }
        #expect(try keychain.importKeyring("--bus", bus.address, "--json").report().counts == [48, 32, 0, 0])
    }

    @Test("A service without encryption, or with a weak key, is refused")
    func sessions() throws {
        let (plain, _) = try Self.run { call, _ in
            guard call.member == "OpenSession" else { return false }
            call.fail(.notSupported("only plain"))
            return true
        }
        #expect(plain.status == 53 && plain.error.contains("no session with encryption"), "\(plain)")
        for output in [BusValue.bytes([1]), .bytes([]), .string(""), .bytes([UInt8](repeating: 0xFF, count: 300))] {
            let (weak, _) = try Self.run { call, _ in
                guard call.member == "OpenSession" else { return false }
                call.answer([.variant(output), .objectPath(FakeSecretService.session)])
                return true
            }
            #expect(weak.status == 53, "\(weak)")
        }
    }

    @Test("A service that does not answer is given up after the timeout")
    func silence() throws {
        let bus = try PrivateBus()
        let unanswered = Collected<BusMethodCall>()
        let service = try FakeSecretService(on: bus, [.init()]) { call, _ in
            guard call.member == "GetAll" else { return false }
            unanswered.append(call)
            return true
        }
        defer { service.end() }
        var limits = ClientLimits()
        limits.timeout = .milliseconds(500)
        let client = try SecretServiceClient(on: .custom(bus.address), limits: limits)
        #expect(throws: SecretServiceClientError.noAnswer(method: "org.freedesktop.DBus.Properties.GetAll")) {
            try client.collections()
        }
    }

    @Test("A program that takes the name in the middle is not asked")
    func replaced() throws {
        let bus = try PrivateBus()
        let service = try FakeSecretService(on: bus, [.init()])
        let client = try SecretServiceClient(on: .custom(bus.address))
        #expect(try client.collections().count == 1)
        service.end()
        var next: FakeSecretService?
        let isReplaced = eventually {
            next = try? FakeSecretService(on: bus, [.init(), .init()])
            return next != nil
        }
        #expect(isReplaced)
        #expect(throws: SecretServiceClientError.ended) { try client.collections() }
        #expect(next?.calls.contains("GetAll") == false)
        next?.end()
    }
}
