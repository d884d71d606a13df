// SPDX-License-Identifier: Apache-2.0

import Latchkey

/// The calls of `Latchkey` for keychains with names, on a home of its own.
enum TypedKeychains {
    static func run() -> Int32 {
        let checks = Checks()
        do {
            try use(checks)
        } catch {
            checks.fail("\(error)")
        }
        Worker.say(checks.failures == 0 ? "passed" : "failed")
        return checks.failures == 0 ? 0 : 1
    }

    private static func use(_ checks: Checks) throws(KeychainError) {
        checks.same("missing", status { () throws(KeychainError) in _ = try Keychain.named("build") }, -25294)
        checks.same("no name", status { () throws(KeychainError) in _ = try Keychain.named(".build") }, -25295)
        checks.same("no name to create", status { () throws(KeychainError) in try Keychain.create("a\u{7}") }, -25295)
        try Keychain.create("build", passcode: "correct horse")
        try Keychain.create("plain")
        checks.same("again", status { () throws(KeychainError) in try Keychain.create("build.keychain") }, -25296)

        let list = try Keychain.list()
        checks.same("names", list.map(\.name), ["login", "build", "plain"])
        checks.same("positions", list.map(\.searchPosition), [0, 1, 2])
        checks.same("searched", list.allSatisfy(\.isSearched), true)
        checks.same("default", list.map(\.isDefault), [true, false, false])
        checks.same("path", list.last?.path.hasSuffix("/plain.keychain-db"), true)

        let item = GenericPassword(service: "example.com", account: "deploy")
        let build = try Keychain.named("build.keychain-db")
        try build.unlock(passcode: "correct horse")
        try build.set(item, to: "s3cret")
        checks.same("found in build", try build.string(for: item), "s3cret")
        checks.same("found by the search list", try Keychain.default.string(for: item), "s3cret")
        let plain = try Keychain.named("plain")
        checks.same("not in plain", try plain.contains(item), false)

        try Keychain.delete(named: "build")
        checks.same("deleted", status { () throws(KeychainError) in try Keychain.delete(named: "build") }, -25294)
        checks.same("used after the end", status { () throws(KeychainError) in _ = try build.contains(item) }, -25294)
        checks.same("login", status { () throws(KeychainError) in try Keychain.delete(named: "login") }, -50)
        checks.same("the rest", try Keychain.list().map(\.name), ["login", "plain"])
    }

    private static func status(_ body: () throws(KeychainError) -> Void) -> Int32 {
        do throws(KeychainError) {
            try body()
            return 0
        } catch {
            return error.status.rawValue
        }
    }
}
