// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainTesting
@testable import LatchkeyCommands
import Testing

/// Access controls on the command line, before a keychain that asks the person for its item.
@Suite("Access control")
struct AccessControlTests {
    // MARK: Flags

    @Test(
        "Apple's names of the flags are parsed, with the operators between them",
        arguments: [
            ("userPresence", .userPresence), ("devicePasscode", .devicePasscode), ("biometryAny", .biometryAny),
            ("biometryCurrentSet", .biometryCurrentSet), ("applicationPassword", .applicationPassword),
            ("privateKeyUsage", .privateKeyUsage), ("securityKey", .latchkeySecurityKey),
            ("biometryAny,devicePasscode", [.biometryAny, .devicePasscode]),
            ("biometryAny,and,devicePasscode", [.biometryAny, .devicePasscode, .and]),
            (
                "biometryCurrentSet,or,devicePasscode,or,securityKey",
                [.biometryCurrentSet, .devicePasscode, .latchkeySecurityKey, .or]
            ),
            (
                "privateKeyUsage,userPresence,applicationPassword",
                [.privateKeyUsage, .userPresence, .applicationPassword]
            ),
        ] as [(String, AccessControlFlags)])
    func flags(_ text: String, _ expected: AccessControlFlags) throws {
        #expect(try AccessControlFlags.named(text) == expected)
        // The text of the flags is parsed to the same constraints.
        let again = try AccessControlFlags.named(expected.text)
        #expect(again?.subtracting(.and) == expected.subtracting(.and))
    }

    @Test("Without the option there are no flags; flags without a name have no text")
    func noFlags() throws {
        #expect(try AccessControlFlags.named(nil) == nil)
        for flags in [[], .or, AccessControlFlags(rawValue: 1 << 5), [.userPresence, AccessControlFlags(rawValue: 4)]] {
            #expect(flags.text == nil)
        }
    }

    @Test(
        "A malformed list of flags is refused with errSecParam, and the error names the part",
        arguments: [
            ("", "is empty"), (",", "is empty"), ("userPresence,", "is empty"), (",userPresence", "is empty"),
            ("or", "'or'"), ("or,biometryAny", "'or'"), ("biometryAny,or", "ends with an operator"),
            ("biometryAny,or,or,devicePasscode", "'or'"), ("biometryAny,and,or,devicePasscode", "'or'"),
            ("userpresence", "'userpresence'"), ("userPresence ", "'userPresence '"), ("watch", "'watch'"),
            ("biometryAny,biometryAny", "twice"), ("touchIDAny", "'touchIDAny'"),
            ("biometryAny,or,devicePasscode,and,securityKey", "`or` and `and`"),
            ("biometryAny,biometryCurrentSet", "biometryCurrentSet"), ("userPresence,devicePasscode", "userPresence"),
            ("userPresence;devicePasscode", "'userPresence;devicePasscode'"),
        ])
    func malformed(_ text: String, _ part: String) {
        let failure = #expect(throws: CommandFailure.self) { try AccessControlFlags.named(text) }
        guard case .status(let error, _)? = failure else {
            Issue.record("expected a status")
            return
        }
        #expect(error.status == .param && error.problem.contains(part), "\(error.problem)")
    }

    @Test("An unknown flag gets a hint with the known names, and with a similar one")
    func unknownFlag() {
        let failure = #expect(throws: CommandFailure.self) { try AccessControlFlags.named("userPresense") }
        guard case .status(let error, _)? = failure else {
            Issue.record("expected a status")
            return
        }
        #expect(error.hint?.contains("did you mean 'userPresence'?") == true)
        #expect(error.hint?.contains(AccessControlFlags.listedNames) == true)
    }

    // MARK: Storing

    @Test("The add commands store the flags with the class: complete, unless --accessible names another")
    func storing() {
        for (options, protection) in [
            ("", ProtectionClass.whenUnlocked),
            ("--accessible first-unlock-this-device", .afterFirstUnlockThisDeviceOnly),
        ] {
            for line in ["add-generic-password -a A -s S -w s3cret", "add-internet-password -a A -s S -w s3cret"] {
                let service = AskingService()
                let outcome = security("\(line) \(options) --access-control biometryAny,or,devicePasscode", on: service)
                #expect(outcome.exit == 0, "\(outcome)")
                #expect(service.additions.last?.accessControlFlags == [.biometryAny, .devicePasscode, .or])
                #expect(service.additions.last?.protection == protection)
            }
        }
        let service = AskingService()
        #expect(
            security("key generate --tag t --access-control privateKeyUsage,userPresence", as: "latchkey", on: service)
                .exit == 0)
        #expect(service.additions.last?.accessControlFlags == [.privateKeyUsage, .userPresence])
        #expect(service.additions.last?.protection == .whenUnlocked)
    }

    @Test("Nothing is stored for an access control that is refused; the exit value is that of errSecParam")
    func refusedFlags() {
        let service = AskingService()
        for line in [
            "add-generic-password -a A -s S -w s3cret --access-control nothing",
            "add-generic-password -a A -s S -w s3cret --accessible xx --access-control userPresence",
            "key generate --tag t --access-control userPresence,devicePasscode",
        ] {
            #expect(
                security(line, as: line.hasPrefix("key") ? "latchkey" : "security", on: service).exit == 206, "\(line)")
        }
        #expect(service.additions.isEmpty && service.calls.isEmpty)
    }

    @Test("An update with an access control keeps the class of the item, and asks once")
    func updating() {
        let service = AskingService()
        let outcome = security(
            "add-generic-password -a A -s S -U -w s3cret --access-control devicePasscode", on: service)
        #expect(outcome.exit == 0, "\(outcome)")
        #expect(service.updates.first?.accessControlFlags == .devicePasscode)
        #expect(service.updates.first?.protection == service.item.protection)
        #expect(service.questions.count == 1 && service.openContexts == 0)
    }

    @Test("An update of the class alone keeps the access control; one of the secret changes neither")
    func updatingClass() {
        let service = AskingService()
        #expect(security("add-generic-password -a A -s S -U -w s3cret --accessible cku", on: service).exit == 0)
        #expect(service.updates.last?.protection == .afterFirstUnlockThisDeviceOnly)
        #expect(service.updates.last?.accessControlFlags == service.item.accessControlFlags)
        #expect(security("add-generic-password -a A -s S -U -w s3cret", on: service).exit == 0)
        #expect(service.updates.last?.protection == nil && service.updates.last?.accessControlFlags == nil)
    }

    @Test("A class that opens without the passcode is warned about where it is chosen, unless the command is quiet")
    func warning() throws {
        let keychain = try TestKeychain(.ephemeral)
        let add = "add-generic-password -a A -s S -U -w s3cret --accessible"
        // A class is named, or has Apple's code.
        for (word, name) in [("none", "none"), ("dk", "none"), ("none-this-device", "none-this-device")] {
            let warning = keychain.security("\(add) \(word)").error
            #expect(warning.contains("items of the class \(name) (kSecAttrAccessibleAlways"), "\(warning)")
            #expect(warning.contains("\nhint: complete opens them only"), "\(warning)")
            #expect(keychain.security("-q \(add) \(word)").error.isEmpty)
        }
        for word in ["complete", "first-unlock", "complete-this-device", "first-unlock-this-device", "ak", "cku"] {
            #expect(keychain.security("\(add) \(word)").error.isEmpty)
        }
        #expect(keychain.latchkey("key generate --tag t --accessible none").error.contains("open without the passcode"))
        let again = keychain.latchkey("key generate --tag t")
        #expect(again.exit == 0 && again.error.contains("latchkey: a private key has the tag 't' already"), "\(again)")
        #expect(again.error.contains("hint: programs that look for the tag find any of them"))
        #expect(keychain.latchkey("key generate --tag t").error.contains("2 private keys have the tag 't' already"))
        #expect(!keychain.latchkey("key generate --tag u").error.contains("already"))
    }

    // MARK: Reading

    @Test(
        "The commands that name an item ask once, with the reason",
        arguments: [
            ("security", "find-generic-password -s S -w", "s3cret\n"),
            ("security", "delete-generic-password -s S", nil),
            ("latchkey", "get --service S", "s3cret"), ("latchkey", "rm --force --service S", nil),
        ] as [(CommandWord, String, String?)])
    func asking(_ program: CommandWord, _ line: String, _ output: String?) {
        let service = AskingService()
        let outcome = security("\(line) --prompt why", as: program, on: service)
        #expect(outcome.exit == 0, "\(outcome)")
        if let output { #expect(outcome.output == output) }
        #expect(service.questions.map(\.prompt.reason) == ["why"])
        #expect(service.openContexts == 0)
    }

    @Test(
        "Where the person cannot be asked, or with --no-prompt, the exit value is 36",
        arguments: [
            ("security", "find-generic-password -s S -w"), ("security", "delete-generic-password -s S"),
            ("latchkey", "get --service S"), ("latchkey", "rm --force --service S"),
            ("latchkey", "key sign --tag tag /dev/null"),
        ] as [(CommandWord, String)])
    func notAsking(_ program: CommandWord, _ line: String) {
        let silent = AskingService()
        let outcome = security("\(line) --no-prompt", as: program, on: silent)
        #expect(outcome.exit == 36 && outcome.output.isEmpty, "\(outcome)")
        #expect(silent.questions.isEmpty && outcome.error.contains("--no-prompt"))
        let unreachable = AskingService { .notInteractive }
        let failed = security(line, as: program, on: unreachable)
        #expect(failed.exit == 36 && failed.error.contains("user interaction is not allowed"), "\(failed)")
        #expect(security(line, as: program, on: AskingService { .userCancel }).exit == 128)
        #expect(security(line, as: program, on: AskingService { .failed }).exit == 51)
    }

    @Test("--prompt and --no-prompt exclude each other")
    func bothOptions() {
        let service = AskingService()
        #expect(security("find-generic-password -s S --prompt why --no-prompt", on: service).exit == 2)
        #expect(security("get --service S --prompt why --no-prompt", as: "latchkey", on: service).exit == 2)
    }

    @Test(
        "A list never asks: it leaves out such items, and says so",
        arguments: [
            ("security", "dump-keychain"), ("security", "dump-keychain -d"), ("latchkey", "list"),
            ("latchkey", "key list"),
        ] as [(CommandWord, String)])
    func listing(_ program: CommandWord, _ line: String) {
        let service = AskingService()
        let outcome = security(line, as: program, on: service)
        #expect(
            outcome.exit == 0 && outcome.output.filter { $0 != "[" && $0 != "]" && $0 != "\n" }.isEmpty, "\(outcome)")
        #expect(service.questions.isEmpty)
        #expect(outcome.error.contains("access control that needs you are not shown"))
    }

    @Test("The JSON of an item names its access control as --access-control accepts it")
    func report() {
        let json = security("get --service S --json", as: "latchkey", on: AskingService()).output
        #expect(json.contains("\"accessControl\" : \"userPresence\""), "\(json)")
    }

    // MARK: Status

    @Test("The status says how the person can be asked, and has a hint for a method that cannot")
    func status() {
        let text = security("status", as: "latchkey", on: AskingService()).output
        #expect(text.contains("presence:    pinentry asks for the passcode\n"))
        #expect(text.contains("             fprintd: no finger is enrolled\n               hint: fprintd-enroll\n"))
        #expect(text.contains("biometry is not enrolled; security keys enrolled: 1\n"))
        let json = security("status --json", as: "latchkey", on: AskingService()).output
        for part in [
            "\"name\" : \"pinentry\"", "\"available\" : false", "\"securityKeys\" : 1",
            "\"biometry\" : \"not-enrolled\"",
        ] {
            #expect(json.contains(part), "\(part)")
        }
    }

    @Test(
        "The status does not say that biometry can be used while its key is not held, or while it is locked out",
        arguments: [
            (PresenceStatus.Biometry.needsPasscode, "needs-passcode", "biometry needs the passcode once"),
            (.lockedOut, "locked-out", "biometry is locked until the passcode is given"),
        ])
    func biometry(_ biometry: PresenceStatus.Biometry, _ word: String, _ sentence: String) {
        let text = security("status", as: "latchkey", on: AskingService(biometry: biometry)).output
        #expect(text.contains("\(sentence); security keys enrolled: 1\n               hint: latchkey unlock\n"))
        let json = security("status --json", as: "latchkey", on: AskingService(biometry: biometry)).output
        #expect(json.contains("\"biometry\" : \"\(word)\"") && json.contains("\"biometryHint\" : \"latchkey unlock\""))
    }
}
