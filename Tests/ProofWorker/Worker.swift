// SPDX-License-Identifier: Apache-2.0

import CLatchkey
import Foundation
import Glibc
import KeychainModel
import LatchkeyClient
@_spi(Testing) import LatchkeyService
import LinuxSystem
import SecretMemory
import LatchkeySecurity

/// The operations that the proofs run in other processes. The tests start, race, kill and fork
/// these processes.
enum Worker {
    static func run(_ arguments: [String]) -> Int32 {
        switch arguments.first {
        case "write": write(forever: arguments.dropFirst().first ?? "w")
        case "churn":
            churn(
                seconds: Double(arguments[1]) ?? 1, name: arguments[2], pause: UInt32(arguments[3]) ?? 0,
                minimum: Int(arguments[4]) ?? 0, isUpserting: arguments.count > 5 && arguments[5] == "upsert")
        case "files": FileChanges.run(in: arguments[1], seed: UInt64(arguments[2]) ?? 1)
        case "store": FileChanges.store(seed: UInt64(arguments[1]) ?? 1)
        case "flood": Flood.run()
        case "fill": CountedCalls.fill()
        case "count": CountedCalls.run()
        case "fork": forkAndWork()
        case "fork-outlive": outliveParent()
        case "add": addAndClose(arguments[1])
        case "memory": holdSecrets(arguments[1], arguments[2])
        case "passcodes": changePasscodes()
        case "item": item(Array(arguments.dropFirst()))
        case "hold": holdConnection()
        case "hand-over": handOver(connectionTo: arguments[1], at: arguments[2])
        case "execute": execute(connectedTo: arguments[1], Array(arguments.dropFirst(2)))
        case "keychains": NamedKeychains.scenarios.run(arguments[1])
        case "typed-keychains": TypedKeychains.run()
        case "another-default": AnotherDefault.run(in: arguments[1])
        case "once": once(user: arguments.dropFirst().first.flatMap(UInt32.init))
        default: 2
        }
    }

    // MARK: hand-over

    /// Connects to one socket, passes the connection to the process that listens at the other, and
    /// runs until it is killed.
    private static func handOver(connectionTo path: String, at place: String) -> Int32 {
        do throws(SystemError) {
            let connection = try Socket(connectingTo: path)
            try Socket(connectingTo: place).send(descriptor: connection.descriptor)
            while true { pause() }
        } catch {
            return 1
        }
    }

    // MARK: execute

    /// Connects to a socket, unless it is `-`. Then executes programs that do the same without the
    /// connection.
    ///
    /// - Parameter next: a file to wait for, the program to execute then, and so on.
    private static func execute(connectedTo path: String, _ next: [String]) -> Int32 {
        do throws(SystemError) {
            let connection = path == "-" ? nil : try Socket(connectingTo: path)
            guard next.count > 1 else { while true { pause() } }
            // A test that has ended makes no file.
            var rest = 300_000
            while access(next[0], F_OK) != 0, rest > 0 {
                usleep(2_000)
                rest -= 1
            }
            guard rest > 0 else { return 1 }
            var words = ([next[1], "execute", "-"] + next.dropFirst(2)).map { strdup($0) } + [nil]
            execv(next[1], &words)
            withExtendedLifetime(connection) {}
            return 1
        } catch {
            return 1
        }
    }

    // MARK: write

    /// Adds items and updates each of them until it is killed, and prints a line after each call
    /// has returned.
    private static func write(forever prefix: String) -> Int32 {
        var number = 0
        while true {
            let account = "\(prefix)-\(number)"
            say("try add \(account)")
            guard add(account, "\(account):0") == errSecSuccess else { return 1 }
            say("did add \(account)")
            say("try update \(account)")
            guard update(account, "\(account):1") == errSecSuccess else { return 1 }
            say("did update \(account)")
            number += 1
        }
    }

    /// Writes one line to the kernel before the next call begins.
    static func say(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        _ = Glibc.write(STDOUT_FILENO, bytes, bytes.count)
    }

    // MARK: churn

    /// Adds, updates, reads and deletes the same hundred items, and prints a line for each call:
    /// `operation item value start end status`, times in nanoseconds of CLOCK_MONOTONIC.
    ///
    /// - Parameters:
    ///   - seconds: the minimum duration, in seconds.
    ///   - pause: the pause between two calls, in microseconds.
    ///   - minimum: the minimum number of calls, regardless of the duration.
    ///   - isUpserting: updates only what it could not add, and deletes nothing.
    private static func churn(seconds: Double, name: String, pause: UInt32, minimum: Int, isUpserting: Bool) -> Int32 {
        let operations = isUpserting ? ["upsert", "read"] : ["add", "update", "read", "read", "delete"]
        var generator = SystemRandomNumberGenerator()
        var lines = ""
        let end = now() + UInt64(seconds * 1_000_000_000)
        var counter = 0
        while now() < end || counter < minimum {
            if pause > 0 { usleep(pause) }
            let account = "item-\(Int.random(in: 0..<100, using: &generator))"
            counter += 1
            let value = "\(name).\(counter)"
            var operation = operations.randomElement(using: &generator) ?? "read"
            var start = now()
            var found = value
            var status: OSStatus
            switch operation {
            case "upsert":
                operation = "add"
                status = add(account, value)
                guard status == errSecDuplicateItem else { break }
                (operation, start) = ("update", now())
                status = update(account, value)
            case "add": status = add(account, value)
            case "update": status = update(account, value)
            case "delete": status = SecItemDelete(key(account) as CFDictionary)
            default:
                let answer = read(account)
                status = answer.status
                found = answer.value ?? "-"
            }
            lines += "\(operation) \(account) \(found) \(start) \(now()) \(status)\n"
        }
        FileHandle.standardOutput.write(Data(lines.utf8))
        return 0
    }

    private static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    // MARK: fork

    /// Opens the keychain and forks. The child searches for its parent's secret memory, and then
    /// uses the keychain itself.
    ///
    /// The exit status is 0 if all steps succeed; otherwise it identifies the step that failed.
    private static func forkAndWork() -> Int32 {
        guard add("parent", "from the parent") == errSecSuccess else { return 10 }
        guard secretMappings() > 0 else { return 11 }
        let child = latchkey_fork()
        if child == 0 {
            guard secretMappings() == 0 else { _exit(20) }
            guard read("parent").value == "from the parent" else { _exit(21) }
            guard add("child", "from the child") == errSecSuccess else { _exit(22) }
            _exit(0)
        }
        var status: Int32 = 0
        guard child > 0, waitpid(child, &status, 0) == child else { return 12 }
        guard status & 0x7F == 0 else { return 13 }
        guard (status >> 8) & 0xFF == 0 else { return (status >> 8) & 0xFF }
        guard read("child").value == "from the child", read("parent").value == "from the parent" else { return 14 }
        return 0
    }

    /// Forks; the parent closes the keychain and exits, another process uses the keychain, and the
    /// child continues to write.
    private static func outliveParent() -> Int32 {
        guard add("parent", "from the parent") == errSecSuccess else { return 10 }
        let parent = getpid()
        let child = latchkey_fork()
        guard child == 0 else {
            KeychainClient.close()
            return child > 0 ? 0 : 12
        }
        guard add("child-first", "first") == errSecSuccess else { _exit(20) }
        var rest = 600_000
        while getppid() == parent, rest > 0 {
            usleep(1000)
            rest -= 1
        }
        guard runAnother("after-parent") == 0, add("child-second", "second") == errSecSuccess else { _exit(21) }
        guard runAnother("after-second") == 0, add("child-third", "third") == errSecSuccess else { _exit(22) }
        say("done")
        _exit(0)
    }

    /// Runs a separate process that adds one item; returns its exit status.
    private static func runAnother(_ account: String) -> Int32 {
        var process = pid_t()
        let arguments = ["/proc/self/exe", "add", account]
        let words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        guard posix_spawn(&process, "/proc/self/exe", nil, nil, words, environ) == 0 else { return -1 }
        var status: Int32 = 0
        return waitpid(process, &status, 0) == process ? status : -1
    }

    /// The number of memfd_secret(2) mappings of this process.
    private static func secretMappings() -> Int {
        let file = FileHandle(forReadingAtPath: "/proc/self/maps")
        let maps = String(decoding: file?.readDataToEndOfFile() ?? Data(), as: UTF8.self)
        return maps.split(separator: "\n").count { $0.contains("secretmem") }
    }

    private static func addAndClose(_ account: String) -> Int32 {
        defer { KeychainClient.close() }
        return add(account, "another") == errSecSuccess ? 0 : 1
    }

    // MARK: once

    /// Changes to another user, if one is given, adds one item, and prints the status and the error
    /// of the embedded service.
    private static func once(user: UInt32?) -> Int32 {
        if let user {
            guard setgid(user) == 0, setuid(user) == 0 else { return 3 }
        }
        var problem = ""
        do {
            _ = try KeychainClient.session()
        } catch {
            problem = "\(error) hint: \(error.hint ?? "-")"
        }
        say("\(add("account-\(getpid())", String(repeating: "x", count: 4000))) \(problem)")
        return 0
    }

    // MARK: item

    /// Makes one call on one item: `add ACCOUNT VALUE [GROUP]`, `find`, `update` or
    /// `delete ACCOUNT - [GROUP]`, `count - - [GROUP]`. Prints the status and the result.
    private static func item(_ words: [String]) -> Int32 {
        defer { KeychainClient.close() }
        var query = words[1] == "-" ? [kSecClass as String: kSecClassGenericPassword] : key(words[1])
        if words.count > 3 { query[kSecAttrAccessGroup as String] = words[3] }
        switch words[0] {
        case "add":
            query[kSecValueData as String] = Data(words[2].utf8)
            say("\(SecItemAdd(query as CFDictionary, nil))")
        case "update":
            say(
                "\(SecItemUpdate(query as CFDictionary, [kSecValueData as String: Data(words[2].utf8)] as CFDictionary))"
            )
        case "delete": say("\(SecItemDelete(query as CFDictionary))")
        default:
            query[kSecReturnData as String] = true
            query[kSecMatchLimit as String] = kSecMatchLimitAll
            var result: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &result)
            let found = (result as? [Data] ?? []).map { String(decoding: $0, as: UTF8.self) }.sorted()
            say(([status.description] + found).joined(separator: " "))
        }
        return 0
    }

    /// Reads an item over one connection, once for each line of standard input.
    private static func holdConnection() -> Int32 {
        while let line = readLine() {
            let answer = read(line)
            say("\(answer.status) \(answer.value ?? "-")")
        }
        return 0
    }

    // MARK: Items

    static func key(_ account: String) -> [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "proof",
            kSecAttrAccount as String: account,
        ]
    }

    static func add(_ account: String, _ value: String) -> OSStatus {
        var item = key(account)
        item[kSecValueData as String] = Data(value.utf8)
        return SecItemAdd(item as CFDictionary, nil)
    }

    static func update(_ account: String, _ value: String) -> OSStatus {
        SecItemUpdate(key(account) as CFDictionary, [kSecValueData as String: Data(value.utf8)] as CFDictionary)
    }

    static func read(_ account: String) -> (status: OSStatus, value: String?) {
        var query = key(account)
        query[kSecReturnData as String] = true
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        return (status, (result as? Data).map { String(decoding: $0, as: UTF8.self) })
    }
}

// MARK: passcode

extension Worker {
    /// Sets, changes and removes the passcode until it is killed, and prints a line before and
    /// after each change.
    static func changePasscodes() -> Int32 {
        do {
            let service = try open()
            var current = try service.lock.status().hasPasscode ? try unlocked(service) : nil
            for number in 0... {
                let next = current == nil ? passcodes[0] : number % 5 == 4 ? nil : passcodes.first { $0 != current }
                say("try \(next ?? "none")")
                switch (current.map(secret), next.map(secret)) {
                case (nil, let new?): try service.lock.setPasscode(new) { _, _ in }
                case (let old?, let new?):
                    try service.lock.changePasscode(from: old, to: new, rotates: number.isMultiple(of: 2)) { _, _ in }
                case (let old?, nil): _ = try service.lock.removePasscode(old) { _, _ in }
                case (nil, nil): return 3
                }
                say("did \(next ?? "none")")
                current = next
            }
            return 0
        } catch {
            say("failed \(error)")
            return 1
        }
    }

    /// The passcodes that the proof uses.
    static let passcodes = ["the first passcode", "the second passcode"]

    static func open() throws -> EmbeddedService {
        let home = KeychainHome(root: ProcessInfo.processInfo.environment["LATCHKEY_HOME"] ?? "")
        let clocks = Clocks(wall: { 0 }, boot: .system, passcodeExponent: 10)
        return try EmbeddedService(home: home, clocks: clocks)
    }

    private static func unlocked(_ service: EmbeddedService) throws -> String? {
        for passcode in passcodes {
            do throws(KeychainError) {
                try service.lock.unlock(secret(passcode)) { _, _ in }
                return passcode
            } catch {
                guard error.status == .authFailed else { throw error }
            }
        }
        return nil
    }

    private static func secret(_ text: String) -> SharedSecret { SharedSecret(copying: text.utf8) }
}

// MARK: memory

extension Worker {
    /// Sets a passcode, stores a secret, finds it, and locks. It waits before and after the lock,
    /// so that its memory can be examined.
    static func holdSecrets(_ passcodePath: String, _ secretPath: String) -> Int32 {
        do {
            let service = try open()
            try store(service, passcodePath, secretPath)
            say("unlocked")
            _ = readLine()
            try service.lock.lock(immediately: true)
            say("locked")
            _ = readLine()
            return 0
        } catch {
            say("failed \(error)")
            return 1
        }
    }

    private static func store(_ service: EmbeddedService, _ passcodePath: String, _ secretPath: String) throws {
        try service.lock.setPasscode(try PasscodeFile.read(FilePath(passcodePath))) { _, _ in }
        let caller = KeychainClient.caller
        _ = try service.items.add(
            ItemAddition(
                .genericPassword, attributes: [.account: .string("the control, which is in ordinary memory")],
                secrets: ItemSecrets(data: try PasscodeFile.read(FilePath(secretPath))), protection: .whenUnlocked),
            from: caller)
        let found = try service.items.copyMatching(ItemQuery(.genericPassword), returning: .data, from: caller)
        guard found.records.first?.secrets?.data != nil else { throw KeychainError.itemNotFound }
    }
}
