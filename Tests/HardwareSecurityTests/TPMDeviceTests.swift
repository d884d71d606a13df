// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import TPMTesting
import Testing

/// The TPM of the machine; programs find it without a variable.
@Suite("The TPM at /dev/tpmrm0")
struct TPMDeviceTests {
    /// A mount namespace with a /dev of its own is root's.
    private static let canMount: Bool = {
        guard SoftwareTPM.isInstalled, geteuid() == 0, access("/usr/bin/python3", X_OK) == 0,
            let process = try? Process.run(URL(filePath: "/usr/bin/unshare"), arguments: ["-m", "true"])
        else { return false }
        return process.awaitExit() == 0
    }()

    /// Makes a /dev of its own, with a terminal as tpmrm0 and swtpm at the other end of it, and runs the rest of the
    /// arguments. The first argument is a directory.
    private static let script = #"""
        set -e
        place=$1; shift
        mount --make-rprivate /
        mkdir "$place/dev" "$place/state"
        mount -t tmpfs none "$place/dev"
        for name in null zero random urandom full tty; do
            touch "$place/dev/$name"
            mount --bind "/dev/$name" "$place/dev/$name"
        done
        mkdir "$place/dev/pts" "$place/dev/shm"
        mount --bind /dev/pts "$place/dev/pts"
        ln -s /proc/self/fd "$place/dev/fd"
        ln -s pts/ptmx "$place/dev/ptmx"
        mount --move "$place/dev" /dev
        exec /usr/bin/python3 -c '
        import os, subprocess, sys, tty
        ours, theirs = os.openpty()
        tty.setraw(ours)
        tty.setraw(theirs)
        os.symlink(os.ttyname(theirs), "/dev/tpmrm0")
        tpm = subprocess.Popen(
            ["/usr/bin/swtpm", "chardev", "--tpm2", "--tpmstate", "dir=" + sys.argv[1] + "/state", "--fd", str(ours),
             "--flags", "not-need-init,startup-clear"], pass_fds=[ours])
        try:
            status = subprocess.run(["/bin/bash", "-e", "-c", sys.argv[2], "steps"] + sys.argv[3:]).returncode
        finally:
            tpm.kill()
            tpm.wait()
        sys.exit(status)
        ' "$place" "$@"
        """#

    @Test("latchkey finds it, keeps keys and the device key in it, and leaves no slot used", .enabled(if: canMount))
    func device() throws {
        let home = try TemporaryDirectory()
        let steps = #"""
            export LATCHKEY_HOME="$2/home"
            for number in 1 2 3 4; do "$1" key generate --secure-enclave --tag "key $number"; done
            "$1" root tpm
            security() { (exec -a security "$latchkey" "$@"); }
            latchkey=$1
            security add-generic-password -s s -a a -w secret
            "$1" root show --json
            security find-generic-password -s s -w
            echo message | "$1" key sign --tag "key 4" > "$2/signature"
            echo message | "$1" key verify --tag "key 4" --signature "$2/signature"
            "$1" root file
            """#
        let script = Self.script.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\n")
        let outcome = try Executable.run(
            "/usr/bin/unshare",
            ["-m", "/bin/bash", "-c", script, "device", home.path, steps, Executable.path("latchkey"), home.path],
            home: home.path)
        #expect(outcome.status == 0, "\(outcome.error)")
        #expect(outcome.output.contains("\"root\" : \"tpm\""), "\(outcome.output)")
        #expect(outcome.output.contains("secret\n"), "\(outcome.output)")
        #expect(outcome.error.contains("in the Secure Enclave (tpm)"))
    }
}
