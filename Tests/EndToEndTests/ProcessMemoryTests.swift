// SPDX-License-Identifier: Apache-2.0

import Foundation
import HardwareSecurity
@testable import Keybag
import KeychainTesting
import LinuxSystem
import SQLiteConnections
import SecretMemory
import TPMTesting
import Testing
import TrustedPlatformModule

/// The memory of another process that uses a keychain, as a core dump would contain it.
@Suite("The memory of a process")
struct ProcessMemoryTests {
    @Test(
        "A core dump would contain neither the device key, the passcode, keys derived from them, nor a stored secret"
    )
    func dump() throws {
        let home = try TemporaryDirectory()
        let (passcode, secret) = ("a passcode of \(UUID().uuidString)", "a secret of \(UUID().uuidString)")
        let (passcodePath, secretPath) = ("\(home.path)/passcode", "\(home.path)/secret")
        for (path, text) in [(passcodePath, passcode), (secretPath, secret)] {
            _ = FileManager.default.createFile(
                atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600])
        }
        let process = Executable.process("ProofWorker", ["memory", passcodePath, secretPath], home: home.path)
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.start()
        defer {
            kill(process.processIdentifier, SIGKILL)
            process.awaitExit()
        }
        #expect(printed(output) == "unlocked\n")
        let needles = try needles(home.path, passcode, secret, control: "the control, which is in ordinary memory")
        let unlocked = try found(needles, in: process.processIdentifier)
        #expect(unlocked == ["control"], "unlocked: \(unlocked.sorted())")
        input.fileHandleForWriting.write(Data("\n".utf8))
        #expect(printed(output) == "locked\n")
        let locked = try found(needles, in: process.processIdentifier)
        #expect(locked == ["control"], "locked: \(locked.sorted())")
    }

    @Test(
        "The same holds for latchkeyd: it receives the passcode and the secret, and sends the secret", .long,
        .enabled(if: geteuid() == 0, "needs root to read the memory of latchkeyd"), arguments: [false, true])
    func daemon(_ hasTPM: Bool) throws {
        let tpm = hasTPM ? try SoftwareTPM() : nil
        let daemon = try DaemonProcess(environment: tpm.map { ["LATCHKEY_TPM": $0.addressText] } ?? [:])
        let (passcode, secret) = ("a passcode of \(UUID().uuidString)", "a secret of \(UUID().uuidString)")
        let path = "\(daemon.directory.path)/passcode"
        _ = FileManager.default.createFile(
            atPath: path, contents: Data(passcode.utf8), attributes: [.posixPermissions: 0o600])
        #expect(try daemon.client("latchkey", ["passcode", "set", "--passcode-file", path]).status == 0)
        if hasTPM {
            #expect(try daemon.client("latchkey", ["root", "tpm", "--passcode-file", path]).status == 0)
        }
        #expect(try daemon.client("ProofWorker", ["item", "add", "a", secret]).output == "0\n")
        #expect(try daemon.client("ProofWorker", ["item", "find", "a", "-"]).output == "0 \(secret)\n")
        // The path of the keychain is not secret, and the daemon knows it.
        let module = tpm.map { TrustedPlatformModule($0.address) }
        let needles = try needles(
            daemon.home, passcode, secret, control: "\(daemon.home)/data/keychain.db", root: module.map { TPMRoot($0) })
        #expect(needles.keys.contains("T") == hasTPM)
        module?.close()
        let process = daemon.process.processIdentifier
        let unlocked = try found(needles, in: process)
        #expect(unlocked == ["control"], "unlocked: \(unlocked.sorted())")
        #expect(try daemon.client("latchkey", ["lock", "--now"]).status == 0)
        #expect(try daemon.client("ProofWorker", ["item", "find", "a", "-"]).output == "-25308\n")
        #expect(
            try daemon.client("ProofWorker", ["item", "find", "a", "-"], environment: ["LATCHKEY_PASSCODE_FILE": path])
                .output
                == "0 \(secret)\n")
        let locked = try found(needles, in: process)
        #expect(locked == ["control"], "locked: \(locked.sorted())")
    }

    private func printed(_ pipe: Pipe) -> String {
        String(decoding: pipe.fileHandleForReading.awaitContent(), as: UTF8.self)
    }

    /// The values that must not be found, and the control that must be found.
    private func needles(
        _ home: String, _ passcode: String, _ secret: String, control: String, root: (any HardwareRoot)? = nil
    ) throws -> [String: [UInt8]] {
        let storage = DeviceKeyStorage(try PrivateDirectory(existing: "\(home)/state"), hardware: root)
        let deviceKey = try storage.load(root == nil ? .file : .tpm)
        let database = try Database("\(home)/data/keychain.db", .readOnly)
        let row = try Statement("SELECT record, device_tag, user_tag FROM keybag", in: database)
        try #require(try row.step())
        let stored = StoredKeybag(record: row.bytes(0), deviceTag: row.bytes(1), userTag: row.bytes(2))
        let keybag = try DeviceKeybag(opening: stored, deviceKey: deviceKey)
        let key = try keybag.completing(try keybag.key(of: try Passcode(SharedSecret(copying: passcode.utf8))))
        let parts = SecretBytes(count: 96) { buffer in
            deviceKey.secret.withUnsafeBytes { buffer[0..<32].copyBytes(from: $0) }
            key.tangle.withUnsafeBytes { buffer[32..<64].copyBytes(from: $0) }
            key.secret.withUnsafeBytes { buffer[64..<96].copyBytes(from: $0) }
        }
        var needles = [
            "control": Array(control.utf8), "passcode": Array(passcode.utf8),
            "secret": Array(secret.utf8),
            "D": deviceKey.secret.withUnsafeBytes { Array($0) }, "P": key.secret.withUnsafeBytes { Array($0) },
            "KEK_device": KeybagCryptography.derive(from: deviceKey.secret, label: "latchkey v1 device KEK")
                .withUnsafeBytes { Array($0) },
            "KEK_user": KeybagCryptography.derive(from: parts, label: "latchkey v1 user KEK").withUnsafeBytes {
                Array($0)
            },
        ]
        // Without a TPM it is zeros.
        if keybag.limitsPasscodes { needles["T"] = key.tangle.withUnsafeBytes { Array($0) } }
        for (slot, classKey) in try keybag.keys.all().merging(
            try keybag.unlock(with: key).keys, uniquingKeysWith: { $1 })
        {
            needles["class key \(slot.protection) \(slot.kind)"] = classKey.withUnsafeBytes { Array($0) }
        }
        for kind in [PresenceIdentity.Kind.passcode, .biometry] {
            let keys = try keybag.presenceKeys(kind, with: key)
            #expect(keys.count == 1)
            for own in keys { needles["presence key \(kind)"] = own.secret.withUnsafeBytes { Array($0) } }
        }
        return needles
    }

    /// Returns the needles in the writable memory of a process, as far as the memory can be read
    /// from outside.
    private func found(_ needles: [String: [UInt8]], in process: Int32) throws -> Set<String> {
        let memory = open("/proc/\(process)/mem", O_RDONLY)
        try #require(memory >= 0, "the memory of a child cannot be read here")
        defer { close(memory) }
        var found: Set<String> = []
        for range in try Self.dumped(process) {
            var content = Data(count: range.count)
            let count = content.withUnsafeMutableBytes {
                pread(memory, $0.baseAddress, $0.count, off_t(range.lowerBound))
            }
            guard count > 0 else { continue }
            for (name, needle) in needles where content.range(of: Data(needle)) != nil { found.insert(name) }
        }
        return found
    }

    /// Returns the writable regions that a core dump contains: those without the flag `dd` of the arena of secrets.
    private static func dumped(_ process: Int32) throws -> [Range<Int>] {
        let handle = try FileHandle(forReadingFrom: URL(filePath: "/proc/\(process)/smaps"))
        let text = String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self)
        var regions: [Range<Int>] = []
        var range: Range<Int>?
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            let bounds = words[0].split(separator: "-").compactMap { Int($0, radix: 16) }
            if bounds.count == 2, words.count > 1 {
                range = words[1].hasPrefix("rw") ? bounds[0]..<bounds[1] : nil
            } else if words[0] == "VmFlags:", let known = range, !words.contains("dd") {
                regions.append(known)
            }
        }
        return regions
    }
}
