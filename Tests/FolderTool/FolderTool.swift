// SPDX-License-Identifier: Apache-2.0

import FileProtection
import FolderTesting
import Glibc
import KeychainModel
import LinuxSystem
import ProtectedFolder

/// Mounts a folder with keys that are made from a number: `folder-tool STORE MOUNT CLASS [SEED [THREADS]]`.
/// SIGUSR1 closes the class, SIGUSR2 opens it.
@main
enum FolderTool {
    static func main() {
        let words = CommandLine.arguments
        guard words.count >= 4, let protection = FileProtectionClass(name: words[3]) else {
            return fail("folder-tool STORE MOUNT CLASS [SEED]")
        }
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGUSR1, SIGUSR2] { sigaddset(&signals, number) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        let keys = MemoryKeys(seed: UInt8(words.count > 4 ? words[4] : "9") ?? 9)
        let threads = words.count > 5 ? Int(words[5]) : nil
        do throws(FileProtectionError) {
            let folder = try MountedFolder(
                of: FilePath(words[1]), at: FilePath(words[2]), protection, keys: keys, maxThreads: threads
            ) { report in
                write("report: \(report)\n", to: 2)
            }
            _ = TerminationSignals.handle { folder.unmount() }
            BackgroundThread.run { follow(folder, keys) }
            write("mounted\n", to: 1)
            folder.run()
            write("unmounted\n", to: 1)
        } catch {
            fail(error.description)
        }
    }

    private static func follow(_ folder: MountedFolder, _ keys: MemoryKeys) {
        while true {
            var (signals, number) = (sigset_t(), Int32(0))
            sigemptyset(&signals)
            for number in [SIGUSR1, SIGUSR2] { sigaddset(&signals, number) }
            guard sigwait(&signals, &number) == 0 else { continue }
            keys.setOpen(number == SIGUSR2)
            folder.lockStateChanged(isOpen: number == SIGUSR2)
            write(number == SIGUSR2 ? "open\n" : "closed\n", to: 1)
        }
    }

    private static func fail(_ text: String) {
        write("folder-tool: \(text)\n", to: 2)
        exit(1)
    }

    private static func write(_ text: String, to descriptor: Int32) {
        _ = text.withCString { Glibc.write(descriptor, $0, strlen($0)) }
    }
}
