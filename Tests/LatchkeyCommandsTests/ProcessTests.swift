// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import LatchkeyCommands
import Testing

/// The built executable in a shell: arguments, standard streams and exit values.
@Suite("The process")
struct ProcessTests {
    @Test("security, a link to latchkey, adds, finds and rejects items")
    func mainJob() throws {
        let shell = try Shell()
        let outcome = try shell.run(
            """
            security add-generic-password -a alice -s example.com -w s3cret -U \
            && security find-generic-password -a alice -s example.com -w
            security find-generic-password -a bob; echo "missing $?"
            security add-generic-password -a alice -s example.com -w other; echo "duplicate $?"
            """)
        #expect(outcome.output == "s3cret\nmissing 44\nduplicate 45\n")
    }

    @Test("a password is read from a pipe and written to one, byte for byte")
    func pipes() throws {
        let shell = try Shell()
        let outcome = try shell.run(
            """
            printf 'from the pipe\\n' | security add-generic-password -a a -s s -w
            security find-generic-password -s s -w
            security add-generic-password -a b -s s -w "$(printf '\\377x')" && security find-generic-password -a b -w
            printf 'add-generic-password -U -s s -a c -w "quoted one"\\nfind-generic-password -a c -w\\n' | security -i
            security find-generic-password -a nobody 2>/dev/null | wc -c
            """)
        #expect(outcome == Outcome(exit: 0, output: "from the pipe\nff78\nquoted one\n0\n", error: ""))
    }

    @Test(
        "a secret of several lines, with zeros, or of the maximum size is read from a pipe, a named pipe and a file"
    )
    func wholeInput() throws {
        let shell = try Shell()
        let outcome = try shell.run(
            """
            add="security add-generic-password -s s"; find="security find-generic-password -w -a"
            printf 'one\\ntwo\\n\\n' | $add -a lines -w; $find lines
            printf 's3cret\\ns3cret\\n' | $add -a twice -w; $find twice
            printf 's3cret\\ns3cret\\n' | $add -a both --secret-file -; $find both
            printf 'one\\ntwo\\n' | $add -a different -w 2>&1 | head -1; $find different 2> /dev/null; echo $?
            printf 'a\\000b' | $add -a zero -w; $find zero
            mkfifo "$LATCHKEY_HOME.pipe"; printf 'one\\ntwo\\n' > "$LATCHKEY_HOME.pipe" &
            $add -a fifo --secret-file "$LATCHKEY_HOME.pipe"; $find fifo; wait
            head -c 4194304 /dev/zero | tr '\\0' x > "$LATCHKEY_HOME.large"
            $add -a large -w < "$LATCHKEY_HOME.large"; $find large | wc -c
            { cat "$LATCHKEY_HOME.large"; echo; } | $add -a line --secret-file -; $find line | wc -c
            { cat "$LATCHKEY_HOME.large"; printf x; } | $add -a more -w; echo $?
            { cat "$LATCHKEY_HOME.large"; printf xx; } | $add -a more -w; echo $?
            $add -a more --secret-file /dev/zero; echo $?
            """)
        let piped = "6f6e650a74776f0a\ns3cret\n7333637265740a733363726574\npasswords don't match\n44\n"
        #expect(outcome.output == piped + "610062\n6f6e650a74776f\n4194305\n4194305\n42\n42\n42\n")
        #expect(outcome.error.split(separator: "\n").filter { $0.hasPrefix("security: ") }.count == 3)
    }

    @Test("output that cannot be written is a failure")
    func fullDevice() throws {
        let shell = try Shell()
        let outcome = try shell.run(
            "security add-generic-password -a a -s s -w x; security find-generic-password -w > /dev/full; echo $?")
        #expect(outcome.output == "220\n")
        #expect(outcome.error == "security: cannot write the output: No space left on device\n")
    }

    @Test(
        "status and who do not create a keychain",
        arguments: ["status", "status --json", "who", "who --json"])
    func createsNothing(command: String) throws {
        let shell = try Shell()
        let outcome = try shell.run("latchkey \(command); test -e \"$LATCHKEY_HOME\"; echo $?")
        #expect(outcome.exit == 0 && outcome.error.isEmpty && outcome.output.hasSuffix("\n1\n"), "\(outcome)")
        let made = try shell.run("security add-generic-password -a a -s s -w v; latchkey \(command)")
        #expect(made.exit == 0 && made.error.isEmpty)
        switch command {
        case "status":
            #expect(
                outcome.output.hasPrefix("keychain:    none yet at \(shell.directory.path)/home/data/keychain.db; "))
            #expect(made.output.contains("mode:        embedded"))
        case "status --json":
            #expect(outcome.output.contains("\"exists\" : false") && made.output.contains("\"exists\" : true"))
        default:
            // The caller identity does not depend on the keychain.
            #expect(outcome.output == made.output + "1\n")
        }
    }

    @Test("doctor does not create a keychain, and a missing one is not an error")
    func noKeychain() throws {
        let shell = try Shell()
        let outcome = try shell.run("latchkey doctor; echo $?; ls \"$LATCHKEY_HOME\" 2>&1 | wc -l")
        #expect(outcome.output.contains("none yet at "))
        #expect(outcome.output.hasSuffix("\n0\n1\n"))
    }

    @Test("doctor shows the chmod if no keychain would be created because every user could replace it")
    func openParent() throws {
        let shell = try Shell()
        let outcome = try shell.run(
            """
            mkdir -p "$LATCHKEY_HOME/open"; chmod 777 "$LATCHKEY_HOME/open"; export LATCHKEY_HOME="$LATCHKEY_HOME/open/home"
            latchkey doctor; echo $?
            security add-generic-password -a a -s s -w x 2>&1; echo $?
            """)
        #expect(outcome.output.contains("none yet at ") && !outcome.output.contains("created on first use"))
        #expect(outcome.output.contains("hint: chmod o-w '"))
        #expect(outcome.output.hasSuffix("\n53\n") && outcome.output.contains("\n1\n"), "\(outcome)")
    }

    @Test("doctor --repair moves items that cannot be opened to quarantine, and --empty-quarantine deletes them")
    func repair() throws {
        let shell = try Shell()
        let outcome = try shell.run(
            """
            for name in a b c; do security add-generic-password -a $name -s s -w x; done
            sqlite3 "$LATCHKEY_HOME/data/keychain.db" 'UPDATE item SET primary_key = zeroblob(16) WHERE id = 2'
            latchkey doctor > /dev/null; echo $?
            latchkey doctor --repair --dry-run > /dev/null; echo $?
            latchkey doctor --repair > /dev/null; echo $?
            latchkey status --json | grep quarantined
            latchkey doctor --empty-quarantine --dry-run > /dev/null; echo $?
            latchkey doctor --empty-quarantine > /dev/null; echo $?
            latchkey status --json | grep quarantined
            security find-generic-password -a a -w && security find-generic-password -a c -w
            """)
        #expect(outcome.output == "1\n1\n0\n  \"quarantined\" : 1,\n0\n0\n  \"quarantined\" : 0,\nx\nx\n")
        #expect(
            outcome.error == """
                latchkey: 1 item would be moved to quarantine
                latchkey: 1 item moved to quarantine
                latchkey: 1 item would be deleted from quarantine
                latchkey: 1 item deleted from quarantine

                """)
        #expect(try shell.run("latchkey doctor --dry-run").exit == 2)
    }

    @Test("a process disables core dumps before it does anything else")
    func hardening() throws {
        let shell = try Shell()
        // The shell reads the limits with the same rights as the process, because root could always
        // read them.
        let outcome = try shell.run(
            """
            ulimit -S -c "$(ulimit -H -c)"
            mkfifo "$LATCHKEY_HOME.pipe"; latchkey -i < "$LATCHKEY_HOME.pipe" & exec 3> "$LATCHKEY_HOME.pipe"
            echo help >&3
            for try in $(seq 3000); do grep -q 'core file size *0 ' /proc/$!/limits && break; sleep 0.1; done
            grep 'core file size' /proc/$!/limits
            exec 3>&-; wait
            """)
        let line = outcome.output.split(separator: "\n").first { $0.contains("core file size") }
        // The soft limit is the one that counts; the hard one stays, so that a program that is run for a person has
        // its own limit again.
        #expect(line?.split(separator: " ").suffix(3).first == "0")
    }

    @Test(
        "a crash prints nothing, and ends the process by its signal",
        arguments: [("SEGV", 139), ("ILL", 132), ("TRAP", 133), ("ABRT", 134), ("BUS", 135), ("FPE", 136)])
    func crash(signal: String, status: Int) throws {
        let shell = try Shell()
        // A process that survives reads the end of its input.
        let outcome = try shell.run(
            """
            mkfifo "$LATCHKEY_HOME.pipe"
            latchkey -i < "$LATCHKEY_HOME.pipe" > "$LATCHKEY_HOME.out" 2> "$LATCHKEY_HOME.err" & exec 3> "$LATCHKEY_HOME.pipe"
            echo 'help error' >&3
            await grep -q usage "$LATCHKEY_HOME.out"
            kill -\(signal) $!; exec 3>&-; wait $!; echo $?; cat "$LATCHKEY_HOME.err"
            """)
        #expect(outcome.output == "\(status)\n")
    }

    @Test("without /proc a command still reads its arguments and works", .enabled(if: Self.canHideProc))
    func withoutProc() throws {
        let shell = try Shell()
        let outcome = try shell.run(
            """
            unshare -rm sh -c 'mount -t tmpfs none /proc
            security add-generic-password -a a -s s -w v; security find-generic-password -a a -w; latchkey status | head -n 1
            latchkey key --help | head -n 1'
            """)
        #expect(
            outcome.output.hasPrefix("v\nkeychain:    \(shell.directory.path)/home/data/keychain.db\nOVERVIEW: "),
            "\(outcome)")
    }

    /// Whether a user can hide /proc in a namespace on this system.
    private static let canHideProc: Bool = {
        (try? Shell().run("unshare -rm mount -t tmpfs none /proc").exit == 0) ?? false
    }()

    /// Whether this process may create set-user-ID programs, and the file system of temporary files
    /// allows them.
    private static let canSetUser: Bool = {
        let script =
            "cp /usr/bin/id \"$PASS\" && chown nobody \"$PASS\" && chmod 4755 \"$PASS\" && test \"$(\"$PASS\" -un)\" = nobody"
        return (try? Shell().run(script).exit == 0) ?? false
    }()

    @Test(
        "a program with another user's privileges ignores the variables of the environment",
        .enabled(if: Self.canSetUser))
    func setUser() throws {
        let shell = try Shell()
        // Only the change of the privileges matters, not their user.
        let outcome = try shell.run(
            """
            mkdir "$LATCHKEY_HOME.bin"; cp "$(readlink -f "$(command -v latchkey)")" "$LATCHKEY_HOME.bin/latchkey"
            chmod 755 "$LATCHKEY_HOME.bin" "$(dirname "$LATCHKEY_HOME")"
            chown nobody "$LATCHKEY_HOME.bin/latchkey"; chmod 4755 "$LATCHKEY_HOME.bin/latchkey"
            export HOME="$LATCHKEY_HOME.h" LATCHKEY_EPHEMERAL=1
            latchkey list-keychains; "$LATCHKEY_HOME.bin/latchkey" list-keychains; echo $?
            """)
        #expect(outcome.output == "    \"ephemeral\"\n37\n", "\(outcome)")
    }

    @Test("a keychain that others can read is rejected, and the hint shows the command that repairs it")
    func widePermissions() throws {
        let shell = try Shell()
        let outcome = try shell.run(
            """
            security add-generic-password -a a -s s -w v; chmod 755 "$LATCHKEY_HOME/data"
            security lock-keychain -a; echo $?
            latchkey doctor
            """)
        #expect(outcome.exit == 1)
        #expect(outcome.output.hasPrefix("53\nWRONG    keychain: "))
        #expect(outcome.error.contains("hint: ") && outcome.error.contains("chmod"))
    }
}
