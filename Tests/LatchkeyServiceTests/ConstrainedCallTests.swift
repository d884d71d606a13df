// SPDX-License-Identifier: Apache-2.0

import KeychainModel
import KeychainSessions
import KeychainTesting
import LatchkeyClient
import LatchkeyOperations
@_spi(Testing) import LatchkeyService
import Presence
import SecretMemory
import Testing

/// Calls on items with access controls, with the person who is asked (keychain-behaviour §7.9), and
/// attempts to get such items without the person.
@Suite("Items with access controls")
struct ConstrainedCallTests {
    /// A keychain with a passcode, and a program that uses it.
    struct Fixture {
        let keychain: TestKeychain
        let session: KeychainSession
        var person: ScriptedPerson { keychain.person }

        init(
            _ backend: Backend, passcode: String? = Sample.passcode, person: ScriptedPerson = ScriptedPerson()
        ) throws {
            keychain = try TestKeychain(backend, person: person)
            session = Self.session(keychain.service)
            if let passcode { try keychain.setPasscode(passcode) }
        }

        static func session(
            _ service: any KeychainService, as caller: CallerIdentity = TestKeychain.caller
        ) -> KeychainSession {
            KeychainSession(service, as: caller) { ScriptedPerson.place }
        }

        func add(
            _ account: String, _ flags: AccessControlFlags?, data: String = "v",
            _ authentication: Authentication = Authentication()
        ) throws(KeychainError) {
            _ = try session.add(
                ItemAddition(
                    .genericPassword, attributes: [.account: .string(account), .service: .string("s")],
                    secrets: ItemSecrets(data: SharedSecret(copying: data.utf8)), protection: .whenUnlocked,
                    accessControlFlags: flags, authentication: authentication))
        }

        func query(
            _ account: String?, _ authentication: Authentication = Authentication(), limit: MatchLimit? = nil
        ) -> ItemQuery {
            var query = keychain.query(account, limit: limit)
            query.authentication = authentication
            return query
        }

        /// Stores the secret of an item, or a new item without an access control.
        func store(_ account: String, _ data: String) throws(KeychainError) -> StoredRecord {
            let secret = SharedSecret(copying: data.utf8)
            return try session.store(
                ItemAddition(
                    .genericPassword, attributes: [.account: .string(account), .service: .string("s")],
                    secrets: ItemSecrets(data: secret)), inPlaceOf: query(account), with: ItemUpdate(data: secret))
        }

        /// The data of the items; the status of an error.
        func find(
            _ account: String?, _ authentication: Authentication = Authentication(), limit: MatchLimit? = nil,
            returning: ReturnTypes = .data
        ) -> Result<[String], KeychainError> {
            Result { () throws(KeychainError) in
                try session.copyMatching(query(account, authentication, limit: limit), returning: returning).records
                    .map { record in
                        record.secrets?.data?.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } ?? ""
                    }
            }
        }

        /// As SecItem reports it.
        func status(_ account: String?, _ authentication: Authentication = Authentication()) -> Int32 {
            switch find(account, authentication) {
            case .success(let found): found.isEmpty ? OSStatusCode.itemNotFound.rawValue : 0
            case .failure(let error): error.status.rawValue
            }
        }
    }

    // MARK: Rows

    @Test(
        "T174, T175, T176: an item with userPresence is added without the person, and is not read without the person",
        arguments: Backend.everywhere)
    func unsatisfied(_ backend: Backend) throws {
        let fixture = try Fixture(backend)
        try fixture.add("A", .userPresence)
        #expect(fixture.person.takeQuestions().isEmpty)
        #expect(fixture.status("A", Authentication(.fail)) == -25308)
        #expect(fixture.status("A", Authentication(.skip)) == -25300)
        // Whether it exists is not told, either: that needs the person as well.
        #expect(throws: KeychainError.self) { try fixture.find("A", Authentication(.fail), returning: []).get() }
        #expect(throws: KeychainError.self) {
            try fixture.find("A", Authentication(.fail), returning: .attributes).get()
        }
        #expect(fixture.person.takeQuestions().isEmpty)
    }

    @Test(
        "T177: a search for all items that skips authentication returns the others, also up to its limit",
        arguments: Backend.everywhere)
    func skipped(_ backend: Backend) throws {
        let fixture = try Fixture(backend)
        try fixture.add("protected", .userPresence, data: "secret")
        try fixture.add("plain", nil, data: "open")
        #expect(try fixture.find(nil, Authentication(.skip), limit: .all).get() == ["open"])
        #expect(try fixture.find(nil, Authentication(.skip)).get() == ["open"])
        #expect(fixture.find(nil, Authentication(.skip), limit: .atMost(0)).map(\.count).recover(-25300) == 0)
        #expect(fixture.person.takeQuestions().isEmpty)
    }

    @Test("T178: an evaluated context opens several items, and asks once", arguments: Backend.everywhere)
    func evaluatedContext(_ backend: Backend) throws {
        let fixture = try Fixture(backend)
        try fixture.add("A", .userPresence, data: "a")
        try fixture.add("B", .devicePasscode, data: "b")
        fixture.person.will(.types(Sample.passcode))
        let context = try fixture.session.createContext()
        try fixture.session.authenticate(for: .policy(.owner), in: context, prompt: AuthenticationPrompt(reason: "why"))
        let authentication = Authentication(.fail, context: context)
        #expect(try fixture.find("A", authentication).get() == ["a"])
        #expect(try fixture.find("B", authentication).get() == ["b"])
        #expect(try fixture.find(nil, authentication, limit: .all).get() == ["a", "b"])
        let questions = fixture.person.takeQuestions()
        #expect(questions.map(\.factor) == [.passcode])
        #expect(questions.first?.reason == "why" && questions.first?.subject == .keychain)
    }

    @Test(
        "T179, T180: a cancelled prompt gives errSecUserCanceled, and three wrong passcodes errSecAuthFailed",
        arguments: Backend.everywhere)
    func notSatisfied(_ backend: Backend) throws {
        let fixture = try Fixture(backend)
        try fixture.add("A", .userPresence)
        fixture.person.will(.cancels)
        #expect(fixture.status("A") == -128)
        fixture.person.will(.types("wrong"), .types("wrong too"), .types("also wrong"))
        #expect(fixture.status("A") == -25293)
        #expect(
            fixture.person.takeQuestions().map(\.previousFailure) == [
                nil, nil, .wrongSecret(attemptsLeft: 2), .wrongSecret(attemptsLeft: 1),
            ])
        fixture.person.will(.isAway)
        #expect(fixture.status("A") == -25308)
        fixture.person.will(.doesNothing)
        #expect(fixture.status("A") == -25293)
        fixture.person.will(.types("wrong"), .types(Sample.passcode))
        #expect(fixture.status("A") == 0)
    }

    @Test("The prompt names the item by its label, and the program", arguments: Backend.everywhere)
    func prompt(_ backend: Backend) throws {
        let fixture = try Fixture(backend)
        _ = try fixture.session.add(
            ItemAddition(
                .genericPassword,
                attributes: [.account: .string("A"), .service: .string("s"), .label: .string("My bank")],
                secrets: ItemSecrets(data: SharedSecret(copying: [1])), accessControlFlags: .userPresence))
        fixture.person.will(.types(Sample.passcode))
        #expect(fixture.status("A", Authentication(reason: "to pay")) == 0)
        let question = try #require(fixture.person.takeQuestions().first)
        #expect(question.itemLabel == "My bank" && question.reason == "to pay")
        #expect(question.program.executable == TestKeychain.caller.executable)
        #expect(question.place == ScriptedPerson.place)
    }

    @Test("T181: a call that is never satisfied ends after twenty rounds with errSecAuthFailed")
    func rounds() throws {
        let fixture = try Fixture(.ephemeral)
        var calls = 0
        let ending = status { () throws(KeychainError) in
            try fixture.session.prompting(Authentication()) { (_) throws(KeychainError) -> Void in
                calls += 1
                throw KeychainError.authenticationNeeded(for: .accessControl([]))
            }
        }
        #expect(ending == -25293)
        #expect(calls == KeychainSession.maxRounds && calls == 20)
    }

    @Test(
        "T182: an item with an application password is added, read and deleted with the password in the context",
        arguments: Backend.everywhere)
    func applicationPassword(_ backend: Backend) throws {
        let fixture = try Fixture(backend, passcode: nil)
        let context = try fixture.session.createContext()
        try fixture.keychain.service.by(TestKeychain.caller).setApplicationPassword(
            SharedSecret(copying: Array("pw".utf8)), in: context)
        let authentication = Authentication(.fail, context: context)
        try fixture.add("A", .applicationPassword, data: "a", authentication)
        #expect(try fixture.find("A", authentication).get() == ["a"])
        #expect(fixture.person.takeQuestions().isEmpty)
        // Without the password in a context the person is asked for it: wrong, then right.
        fixture.person.will(.types("wrong"), .types("pw"))
        #expect(try fixture.find("A").get() == ["a"])
        #expect(fixture.person.takeQuestions().map(\.factor) == [.applicationPassword, .applicationPassword])
        // A wrong one in the context is replaced.
        let wrong = try fixture.session.createContext()
        try fixture.keychain.service.by(TestKeychain.caller).setApplicationPassword(
            SharedSecret(copying: Array("no".utf8)), in: wrong)
        #expect(fixture.status("A", Authentication(.fail, context: wrong)) == -25308)
        // The person is away: the error is that the password is wrong. Without a password, it is the missing prompt.
        try fixture.keychain.service.by(TestKeychain.caller).setApplicationPassword(
            SharedSecret(copying: Array("no".utf8)), in: wrong)
        fixture.person.will(.isAway, .isAway)
        #expect(fixture.status("A", Authentication(context: wrong)) == -25293)
        #expect(fixture.status("A") == -25308)
        _ = fixture.person.takeQuestions()
        fixture.person.will(.types("x"), .types("y"), .types("z"))
        #expect(fixture.status("A") == -25293)
        #expect(try fixture.session.delete(fixture.query("A")) == 1)
    }

    @Test(
        "An item with an application password asks for a new one when it is added", .long, arguments: Backend.everywhere
    )
    func newApplicationPassword(_ backend: Backend) throws {
        let fixture = try Fixture(backend, passcode: nil)
        fixture.person.will(.types("pw"))
        try fixture.add("A", .applicationPassword, data: "a")
        let question = try #require(fixture.person.takeQuestions().first)
        #expect(question.factor == .newApplicationPassword)
        #expect(status { () throws(KeychainError) in try fixture.add("B", .applicationPassword) } == -128)
        fixture.person.will(.types("pw"))
        #expect(try fixture.find("A").get() == ["a"])
    }

    @Test(
        "T183, T184: an item with presence and a password needs both to be read, and none to be deleted", .long,
        arguments: Backend.everywhere)
    func passwordAndPresence(_ backend: Backend) throws {
        let fixture = try Fixture(backend)
        fixture.person.will(.types("pw"))
        try fixture.add("A", [.userPresence, .applicationPassword], data: "a")
        fixture.person.will(.types("x"), .types("y"), .types("z"))
        #expect(fixture.status("A") == -25293)
        fixture.person.will(.types(Sample.passcode), .types("no"), .types("pw"))
        #expect(try fixture.find("A").get() == ["a"])
        fixture.person.will(.types(Sample.passcode))
        #expect(fixture.status("A") == -128)
        _ = fixture.person.takeQuestions()
        #expect(try fixture.session.delete(fixture.query("A", Authentication(.fail))) == 1)
        #expect(fixture.person.takeQuestions().isEmpty)
    }

    @Test(
        "T187: an update gives a plain item an application password, and another one removes it", .long,
        arguments: Backend.everywhere)
    func updateToConstrained(_ backend: Backend) throws {
        let fixture = try Fixture(backend)
        try fixture.add("A", nil, data: "a")
        fixture.person.will(.types("pw"))
        _ = try fixture.session.update(
            fixture.query("A"),
            with: ItemUpdate(protection: .whenUnlocked, accessControlFlags: .applicationPassword))
        #expect(fixture.status("A", Authentication(.fail)) == -25308)
        #expect(
            status { () throws(KeychainError) in
                _ = try fixture.session.update(
                    fixture.query("A", Authentication(.fail)), with: ItemUpdate(protection: .whenUnlocked))
            } == -25308)
        fixture.person.will(.types("pw"))
        _ = try fixture.session.update(fixture.query("A"), with: ItemUpdate(protection: .whenUnlocked))
        #expect(try fixture.find("A", Authentication(.fail)).get() == ["a"])
    }

    @Test(
        "T188, T189, T190: a new finger loses items of biometryCurrentSet, and not those of biometryAny",
        arguments: Backend.daemons)
    func enrolledSet(_ backend: Backend) throws {
        let fixture = try Fixture(backend)
        fixture.person.enroll("left")
        try fixture.add("current", .biometryCurrentSet, data: "c")
        try fixture.add("deleted", .biometryCurrentSet)
        try fixture.add("any", .biometryAny, data: "a")
        try fixture.keychain.unlock()
        #expect(try fixture.session.delete(fixture.query("deleted", Authentication(.fail))) == 1)
        fixture.person.will(touch: .matches, .matches)
        #expect(try fixture.find("current").get() == ["c"])
        #expect(try fixture.find("any").get() == ["a"])
        fixture.person.enroll("left", "right")
        fixture.person.will(touch: .matches, .matches)
        #expect(fixture.status("current") == -25300)
        #expect(try fixture.find("any").get() == ["a"])
        // The row is gone: even the old set does not bring it back.
        fixture.person.enroll("left")
        #expect(fixture.status("current", Authentication(.fail)) == -25300)
        #expect(fixture.person.unusedAnswers == 0)
    }

    @Test(
        "Storing in the place of an item with changed fingers stores a new item", arguments: Backend.daemons)
    func storesLost(_ backend: Backend) throws {
        let fixture = try Fixture(backend)
        fixture.person.enroll("left")
        try fixture.add("A", .biometryCurrentSet, data: "old")
        try fixture.keychain.unlock()
        fixture.person.enroll("left", "right")
        fixture.person.will(touch: .matches)
        #expect(try !fixture.store("A", "new").isReplacement)
        #expect(try fixture.find("A", limit: .all).get() == ["new"])
    }

    @Test(
        "Storing the secret of an item needs no finger that its access control does not need",
        arguments: Backend.daemons)
    func storesWithoutFinger(_ backend: Backend) throws {
        let fixture = try Fixture(backend)
        fixture.person.enroll("left")
        try fixture.add("A", [.biometryAny, .devicePasscode, .or], data: "old")
        try fixture.keychain.unlock()
        fixture.person.enroll()
        fixture.person.will(.types(Sample.passcode), .types(Sample.passcode))
        let stored = try fixture.store("A", "new")
        #expect(stored.isReplacement && stored.record.accessControlFlags == [.biometryAny, .devicePasscode, .or])
        #expect(try fixture.find("A").get() == ["new"])
    }

    @Test(
        "T191: an access control that cannot be satisfied is refused when the item is added",
        arguments: Backend.everywhere)
    func invalidAtAdd(_ backend: Backend) throws {
        let fixture = try Fixture(backend)
        for flags: AccessControlFlags in [
            [.biometryAny, .biometryCurrentSet], [.or, .and, .devicePasscode], AccessControlFlags(rawValue: 1 << 5),
        ] {
            #expect(status { () throws(KeychainError) in try fixture.add("A", flags) } == -50)
        }
        #expect(fixture.status("A") == -25300)
    }

    @Test("Without a passcode, constraints that need it cannot be stored", arguments: Backend.everywhere)
    func withoutPasscode(_ backend: Backend) throws {
        let fixture = try Fixture(backend, passcode: nil)
        for flags: AccessControlFlags in [.userPresence, .devicePasscode] {
            #expect(status { () throws(KeychainError) in try fixture.add("A", flags) } == -25293)
        }
    }

    @Test("A synchronizable item with an access control is refused", arguments: Backend.everywhere)
    func synchronizable(_ backend: Backend) throws {
        let fixture = try Fixture(backend)
        let item = ItemAddition(
            .genericPassword, attributes: [.account: .string("A")], accessControlFlags: .userPresence,
            isSynchronizable: true)
        #expect(status { () throws(KeychainError) in _ = try fixture.session.add(item) } == -50)
    }

    @Test("A program that opens the keychain itself refuses items with biometry by name")
    func embeddedBiometry() throws {
        for backend in [Backend.onDisk, .ephemeral] {
            let fixture = try Fixture(backend)
            fixture.person.enroll("left")
            let error = #expect(throws: KeychainError.self) { try fixture.add("A", .biometryAny) }
            #expect(error?.status == .notAvailable && error?.problem.contains("biometryAny") == true)
        }
    }

    // MARK: Combinations

    @Test("`or` takes one of its constraints, the next one after a miss; `and` takes all", arguments: Backend.daemons)
    func combinations(_ backend: Backend) throws {
        let fixture = try Fixture(backend)
        fixture.person.enroll("left")
        try fixture.keychain.unlock()
        try fixture.add("or", [.biometryAny, .or, .devicePasscode], data: "o")
        try fixture.add("and", [.biometryAny, .and, .devicePasscode], data: "a")
        fixture.person.will(touch: .matches)
        #expect(try fixture.find("or").get() == ["o"])
        #expect(fixture.person.takeQuestions().map(\.factor) == [.fingerprint])
        fixture.person.will(touch: .misses)
        fixture.person.will(.types(Sample.passcode))
        #expect(try fixture.find("or").get() == ["o"])
        #expect(fixture.person.takeQuestions().map(\.factor) == [.fingerprint, .passcode])
        fixture.person.will(touch: .matches)
        fixture.person.will(.types(Sample.passcode))
        #expect(try fixture.find("and").get() == ["a"])
        #expect(Set(fixture.person.takeQuestions().map(\.factor)) == [.fingerprint, .passcode])
        fixture.person.will(touch: .matches)
        #expect(fixture.status("and") == -128)
    }

    @Test(
        "The prompt of a finger offers the passcode where it satisfies, and its button cancels",
        arguments: Backend.daemons)
    func fingerPrompt(_ backend: Backend) throws {
        let fixture = try Fixture(backend)
        let person = fixture.person
        person.enroll("left")
        try fixture.keychain.unlock()
        try fixture.add("presence", .userPresence, data: "p")
        try fixture.add("or", [.biometryAny, .or, .devicePasscode], data: "o")
        try fixture.add("any", .biometryAny)
        for account in ["presence", "or"] {
            person.will(touch: .waits)
            person.will(press: .fallback)
            person.will(.types(Sample.passcode))
            #expect(fixture.status(account) == 0)
            let questions = person.takeQuestions()
            #expect(questions.map(\.factor) == [.fingerprint, .passcode])
            #expect(questions.first?.fallbackTitle == "Passcode")
        }
        person.will(touch: .waits)
        person.will(press: .cancelled)
        #expect(fixture.status("presence") == -128)
        // One button: nothing but a finger opens the item.
        person.will(touch: .missesOnce, .matches)
        #expect(fixture.status("any") == 0)
        let questions = person.takeQuestions()
        #expect(questions.last?.previousFailure == .notRecognized && questions.allSatisfy { $0.factor == .fingerprint })
        #expect(questions.last?.fallbackTitle == nil && person.unusedAnswers == 0)
    }

    @Test("Where nothing can be displayed, no finger is asked for", arguments: Backend.daemons)
    func fingerWithoutPlace(_ backend: Backend) throws {
        let fixture = try Fixture(backend)
        fixture.person.enroll("left")
        try fixture.keychain.unlock()
        try fixture.add("any", .biometryAny)
        fixture.person.will(touch: .matches)
        let session = KeychainSession(fixture.keychain.service, as: TestKeychain.caller) { .none }
        let outcome = status { () throws(KeychainError) in
            _ = try session.copyMatching(fixture.query("any"), returning: .data)
        }
        #expect(outcome == -25308 && fixture.person.takeQuestions().isEmpty && fixture.person.unusedAnswers == 1)
    }

    @Test(
        "A program that asks for biometry alone is told that the person chose the passcode",
        arguments: Backend.daemons, [nil, "", "Type it"] as [String?])
    func fallback(_ backend: Backend, _ title: String?) throws {
        let fixture = try Fixture(backend)
        fixture.person.enroll("left")
        try fixture.keychain.unlock()
        let context = try fixture.session.createContext()
        fixture.person.will(touch: .waits)
        fixture.person.will(press: title == "" ? .cancelled : .fallback)
        let error = #expect(throws: KeychainError.self) {
            try fixture.session.authenticate(
                for: .policy(.biometry), in: context,
                prompt: AuthenticationPrompt(cancelTitle: "Stop", fallbackTitle: title))
        }
        #expect(error?.authentication == .failed(title == "" ? .userCancel : .userFallback))
        let question = fixture.person.takeQuestions().first
        #expect(question?.cancelTitle == "Stop" && question?.fallbackTitle == (title == "" ? nil : title ?? "Passcode"))
    }

    @Test("Biometry that is locked out leaves the passcode for userPresence", arguments: Backend.daemons)
    func lockedOut(_ backend: Backend) throws {
        let fixture = try Fixture(backend)
        fixture.person.enroll("left")
        try fixture.keychain.unlock()
        try fixture.add("A", .userPresence)
        try fixture.add("B", .biometryAny)
        fixture.person.setBiometry(.lockedOut)
        #expect(fixture.status("B") == -25293)
        fixture.person.will(.types(Sample.passcode))
        #expect(fixture.status("A") == 0)
        // The passcode has ended the lock-out.
        fixture.person.will(touch: .matches)
        #expect(fixture.status("B") == 0)
    }

    @Test("A recognition is reused by the same process for as long as it allows", arguments: Backend.daemons)
    func reuse(_ backend: Backend) throws {
        let fixture = try Fixture(backend)
        fixture.person.enroll("left")
        try fixture.keychain.unlock()
        try fixture.add("A", .biometryAny)
        fixture.person.will(touch: .matches)
        #expect(fixture.status("A") == 0)
        func authenticate(_ reuse: Double, as caller: CallerIdentity = TestKeychain.caller) -> Int32 {
            status { () throws(KeychainError) in
                let session = Fixture.session(fixture.keychain.service, as: caller)
                let context = try session.createContext()
                try session.authenticate(
                    for: .policy(.biometry), in: context, prompt: AuthenticationPrompt(reuse: reuse))
            }
        }
        #expect(authenticate(10) == 0)
        #expect(authenticate(0) == -128)
        var other = TestKeychain.caller
        other.process = CallerIdentity.ProcessIdentity(user: 1, process: 99)
        #expect(authenticate(10, as: other) == -128)
        fixture.keychain.clock.advance(by: 11)
        #expect(authenticate(10) == -128)
        #expect(authenticate(300) == 0)
        try fixture.keychain.service.administrator.lock(immediately: true)
        try fixture.keychain.unlock()
        #expect(authenticate(300) == -128)
    }

    @Test("A call reuses a recognition if its context allows it, as an evaluation does", arguments: Backend.daemons)
    func reuseByCalls(_ backend: Backend) throws {
        let fixture = try Fixture(backend)
        fixture.person.enroll("left")
        try fixture.keychain.unlock()
        try fixture.add("A", .biometryAny)
        fixture.person.will(touch: .matches)
        #expect(fixture.status("A") == 0)
        func read(_ reuse: Double) throws -> Int32 {
            let context = try fixture.session.createContext()
            return fixture.status(
                "A", Authentication(.allow, context: context, of: nil, prompt: AuthenticationPrompt(reuse: reuse)))
        }
        #expect(try read(10) == 0)
        #expect(try read(0) == -128)
        fixture.keychain.clock.advance(by: 11)
        #expect(try read(10) == -128)
    }

    // MARK: Attacks

    @Test("A context is of no use to another process, or after its end", arguments: Backend.everywhere)
    func foreignContext(_ backend: Backend) throws {
        let fixture = try Fixture(backend)
        try fixture.add("A", .userPresence)
        fixture.person.will(.types(Sample.passcode))
        let context = try fixture.session.createContext()
        try fixture.session.authenticate(for: .policy(.owner), in: context, prompt: AuthenticationPrompt())
        var other = TestKeychain.caller
        other.process = CallerIdentity.ProcessIdentity(user: 1, process: 99)
        let thief = Fixture.session(fixture.keychain.service, as: other)
        let stolen = fixture.query("A", Authentication(.fail, context: context))
        for attempt in [stolen, fixture.query("A", Authentication(context: context))] {
            let error = #expect(throws: KeychainError.self) { try thief.copyMatching(attempt, returning: .data) }
            #expect(error?.authentication == .failed(.invalidContext))
        }
        let guessed = try #require(AuthenticationContextID(bytes: [UInt8](repeating: 0, count: 16)))
        #expect(fixture.status("A", Authentication(.fail, context: guessed)) == -25293)
        thief.service.by(other).endContext(context)
        #expect(fixture.status("A", Authentication(.fail, context: context)) == 0)
        fixture.session.service.by(TestKeychain.caller).endContext(context)
        #expect(fixture.status("A", Authentication(.fail, context: context)) == -25293)
    }

    @Test(
        "A call with a context that the service does not know asks in a new context of its owner",
        arguments: Backend.everywhere)
    func lostContext(_ backend: Backend) throws {
        let fixture = try Fixture(backend)
        try fixture.add("A", .userPresence, data: "a")
        let session = fixture.session
        let owner = AuthenticationContext { () throws(KeychainError) in session }
        fixture.person.will(.types(Sample.passcode))
        #expect(try fixture.find("A", owner.authentication()).get() == ["a"])
        let lost = try owner.identifier()
        session.service.by(TestKeychain.caller).endContext(lost)
        #expect(try fixture.find("A", owner.authentication(.fail)).failure?.authentication == .failed(.notInteractive))
        #expect(try owner.identifier() != lost)
        session.service.by(TestKeychain.caller).endContext(try owner.identifier())
        fixture.person.will(.types(Sample.passcode))
        #expect(try fixture.find("A", owner.authentication()).get() == ["a"])
        #expect(fixture.person.takeQuestions().count == 2)
        // A context that the program has ended is not created again.
        let last = try owner.authentication()
        owner.invalidate()
        #expect(fixture.find("A", last).failure?.authentication == .failed(.invalidContext))
        #expect(fixture.person.takeQuestions().isEmpty)
    }

    @Test("A context's authentication ends with the lock, also during a prompt", arguments: Backend.everywhere)
    func lockEndsContexts(_ backend: Backend) throws {
        let fixture = try Fixture(backend)
        try fixture.add("A", .userPresence)
        fixture.person.will(.types(Sample.passcode))
        let context = try fixture.session.createContext()
        try fixture.session.authenticate(for: .policy(.owner), in: context, prompt: AuthenticationPrompt())
        #expect(fixture.status("A", Authentication(.fail, context: context)) == 0)
        try fixture.keychain.service.administrator.lock(immediately: true)
        try fixture.keychain.unlock()
        #expect(fixture.status("A", Authentication(.fail, context: context)) == -25308)
        // The same context can be evaluated again.
        fixture.person.will(.types(Sample.passcode))
        #expect(fixture.status("A", Authentication(context: context)) == 0)
        let service = fixture.keychain.service
        fixture.person.will(.after({ try? service.administrator.lock(immediately: true) }, types: Sample.passcode))
        let fresh = try fixture.session.createContext()
        try? fixture.session.authenticate(for: .policy(.owner), in: fresh, prompt: AuthenticationPrompt())
        try fixture.keychain.unlock()
        #expect(fixture.status("A", Authentication(.fail, context: fresh)) == -25308)
    }

    @Test("A process has a limited number of contexts")
    func contextLimit() throws {
        let fixture = try Fixture(.ephemeral)
        for _ in 0..<64 { _ = try fixture.session.createContext() }
        #expect(status { () throws(KeychainError) in _ = try fixture.session.createContext() } == -108)
    }

    @Test("Wrong passcodes in prompts are counted and delayed like those of an unlock", arguments: Backend.everywhere)
    func counted(_ backend: Backend) throws {
        let fixture = try Fixture(backend)
        try fixture.add("A", .userPresence)
        // One of 65,536 is taken for a repetition of the last one, and is not counted: then there is a third round.
        for passcodes in [["1", "2", "3"], ["4", "5", "6"], ["7", "8", "9"]] {
            guard try fixture.keychain.service.administrator.lockStatus().wrongPasscodes < 5 else { break }
            fixture.person.will(.types(passcodes[0]), .types(passcodes[1]), .types(passcodes[2]))
            #expect(fixture.status("A") == -25293)
        }
        #expect(try fixture.keychain.service.administrator.lockStatus().wrongPasscodes == 5)
        _ = fixture.person.takeQuestions()
        // During the delay, even the right passcode is not checked.
        fixture.person.will(.types(Sample.passcode))
        #expect(fixture.status("A") == -25293)
    }

    @Test("The tenth wrong passcode destroys the items if the settings require it, and is the last question")
    func wiped() throws {
        let fixture = try Fixture(.onDisk)
        try fixture.keychain.service.administrator.changeSettings(
            to: KeybagSettings(wipesAfterTen: true), Sample.secret)
        try fixture.add("A", .userPresence)
        try fixture.keychain.enterWrongPasscodes(9)
        fixture.keychain.clock.advance(by: 3600)
        fixture.person.will(.types("wrong 10"), .types("wrong 11"))
        let error = #expect(throws: KeychainError.self) { try fixture.find("A").get() }
        #expect(error?.status == .authFailed && error?.problem.contains("destroyed") == true)
        #expect(fixture.person.takeQuestions().count == 1)
        #expect(fixture.status("A", Authentication(.fail)) == -25300)
    }

    // MARK: Keys

    @Test("A private key with an access control asks at each use, and never leaves", arguments: Backend.everywhere)
    func privateKey(_ backend: Backend) throws {
        let fixture = try Fixture(backend)
        let half = ItemAddition(
            .key, attributes: [.label: .string("signing")], protection: .whenUnlockedThisDeviceOnly,
            accessControlFlags: [.privateKeyUsage, .userPresence])
        let key = try fixture.session.generateKey(
            KeyGeneration(KeyKind(.ellipticCurve, bits: 256), privateHalf: half))
        let reference = key.privateHalf.persistentReference
        #expect(fixture.person.takeQuestions().isEmpty)
        // Finding it and its public half need no person.
        let query = ItemQuery(nil, synchronizable: .any, persistentReference: reference)
        let found = try fixture.session.copyMatching(query, returning: [.attributes, .reference]).records
        #expect(found.count == 1)
        #expect(try fixture.session.publicKey(of: reference).publicKey == key.publicKey)
        #expect(fixture.person.takeQuestions().isEmpty)
        let digest = SharedSecret(copying: [UInt8](repeating: 7, count: 32))
        #expect(
            status { () throws(KeychainError) in
                _ = try fixture.session.useKey(
                    reference, .signECDSA, on: digest, authentication: Authentication(.fail))
            } == -25308)
        fixture.person.will(.types(Sample.passcode), .types(Sample.passcode))
        for _ in 0..<2 { _ = try fixture.session.useKey(reference, .signECDSA, on: digest) }
        let questions = fixture.person.takeQuestions()
        #expect(questions.count == 2)
        #expect(questions.first?.itemLabel == "signing")
        #expect(status { () throws(KeychainError) in _ = try fixture.session.exportKey(reference) } == -4)
        #expect(
            status { () throws(KeychainError) in _ = try fixture.session.copyMatching(query, returning: .data) } == -4)
        #expect(fixture.person.takeQuestions().isEmpty)
    }

    @Test(
        "T200: a key with privateKeyUsage alone signs without the person, and is not exported",
        arguments: Backend.everywhere)
    func privateKeyUsage(_ backend: Backend) throws {
        let fixture = try Fixture(backend)
        let half = ItemAddition(.key, protection: .whenUnlocked, accessControlFlags: .privateKeyUsage)
        let key = try fixture.session.generateKey(
            KeyGeneration(KeyKind(.ellipticCurve, bits: 256), privateHalf: half))
        let reference = key.privateHalf.persistentReference
        _ = try fixture.session.useKey(
            reference, .signECDSA, on: SharedSecret(copying: [UInt8](repeating: 7, count: 32)),
            authentication: Authentication(.fail))
        #expect(status { () throws(KeychainError) in _ = try fixture.session.exportKey(reference) } == -4)
    }

    @Test("The status says how the person can be asked, and displays nothing", arguments: Backend.everywhere)
    func presenceStatus(_ backend: Backend) throws {
        let fixture = try Fixture(backend)
        fixture.person.enroll("left")
        let found = try fixture.session.presenceStatus()
        #expect(found.methods.map(\.name) == ["scripted"] && found.methods.allSatisfy { $0.problem == nil })
        #expect(found.hasPasscode)
        #expect(found.biometry == (Backend.daemons.contains(backend) ? .available : .notAvailable))
        let nowhere = KeychainSession(fixture.keychain.service, as: TestKeychain.caller) { .none }
        #expect(try nowhere.presenceStatus().methods.first?.problem != nil)
        #expect(fixture.person.takeQuestions().isEmpty)
    }

    @Test(
        "Biometry counts as available only while its key is held: after an unlock with the passcode, until the lock",
        arguments: Backend.daemons)
    func biometryKey(_ backend: Backend) throws {
        let fixture = try Fixture(backend, passcode: nil)
        func biometry(_ keychain: TestKeychain? = nil) throws -> PresenceStatus.Biometry {
            try Fixture.session(keychain?.service ?? fixture.keychain.service).presenceStatus().biometry
        }
        #expect(try biometry() == .notAvailable)
        fixture.person.enroll("left")
        #expect(try biometry() == .needsPasscode, "there is no passcode, and no key")
        try fixture.keychain.setPasscode(Sample.passcode)
        #expect(try biometry() == .available)
        try fixture.keychain.service.administrator.lock(immediately: true)
        #expect(try biometry() == .needsPasscode)
        // The state of the sensor is not hidden by the missing key.
        fixture.person.setBiometry(.lockedOut)
        #expect(try biometry() == .lockedOut)
        fixture.person.setBiometry(.available)
        try fixture.keychain.unlock()
        #expect(try biometry() == .available)
        let restarted = try fixture.keychain.reopened()
        #expect(try biometry(restarted) == .needsPasscode)
        let error = #expect(throws: KeychainError.self) {
            let session = Fixture.session(restarted.service)
            try session.authenticate(
                for: .policy(.biometry), in: session.createContext(), prompt: AuthenticationPrompt())
        }
        #expect(error?.authentication == .failed(.biometryNotAvailable))
        try restarted.unlock()
        #expect(try biometry(restarted) == .available)
        _ = try restarted.service.administrator.removePasscode(Sample.secret) { _, _ in }
        #expect(try biometry(restarted) == .needsPasscode)
    }
}

extension Result where Failure == KeychainError {
    fileprivate var failure: KeychainError? {
        if case .failure(let error) = self { error } else { nil }
    }

    /// The value, or `value` if the error has this status.
    fileprivate func recover(_ status: Int32) -> Success? where Success == Int {
        switch self {
        case .success(let value): value
        case .failure(let error): error.status.rawValue == status ? 0 : nil
        }
    }
}

extension PresenceRequest {
    fileprivate var itemLabel: String? {
        if case .item(let label, _) = subject { label } else { nil }
    }
}
