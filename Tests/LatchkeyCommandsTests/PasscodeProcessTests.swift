// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Testing

/// The passcode commands in a shell.
@Suite("The passcode in a shell")
struct PasscodeProcessTests {
    @Test(
        "a locked item exits with 36, and opens with --passcode-file, --passcode-fd and the environment", .long
    )
    func mainJob() throws {
        let shell = try prepared()
        let outcome = try shell.run(
            """
            security find-generic-password -a a -w < /dev/null; echo $?
            security find-generic-password -a a -w --passcode-file "$PASS"
            security find-generic-password -a a -w --passcode-fd 3 3< "$PASS"
            LATCHKEY_PASSCODE_FILE="$PASS" security find-generic-password -a a -w
            mkdir "$LATCHKEY_HOME/credentials"; cp "$PASS" "$LATCHKEY_HOME/credentials/latchkey.passcode"
            CREDENTIALS_DIRECTORY="$LATCHKEY_HOME/credentials" security find-generic-password -a a -w
            security add-generic-password -a b -s s -w x < /dev/null; echo $?
            security add-generic-password -a b -s s -w x --passcode-file "$PASS"; echo $?
            security delete-generic-password -a b -s s --passcode-file "$PASS" > /dev/null; echo $?
            """)
        #expect(outcome.output == "36\nv\nv\nv\nv\n36\n0\n0\n")
    }

    @Test("the daily commands exit with 36 while the keychain is locked, and unlock it with --passcode-file", .long)
    func dailyCommands() throws {
        let shell = try prepared()
        let outcome = try shell.run(
            """
            latchkey get s/a < /dev/null; echo $?
            latchkey get s/a --passcode-file "$PASS"; echo
            LATCHKEY_PASSCODE_FILE="$PASS" latchkey get s/a; echo
            printf w | latchkey set -f s/a; echo $?
            printf w | latchkey set -f s/a --passcode-file "$PASS"; echo $?
            printf x | latchkey set --protection none s/open --passcode-file "$PASS"; echo $?
            latchkey list < /dev/null | cut -f 1
            latchkey list --passcode-file "$PASS" | cut -f 1
            latchkey rm -f s/a < /dev/null; echo $?
            latchkey rm -f s/a --passcode-file "$PASS"; echo $?
            """)
        #expect(outcome.output == "36\nv\nv\n36\n0\n0\ns/open\ns/a\ns/open\n36\n0\n", "\(outcome)")
        #expect(
            outcome.error.contains("latchkey: locked items are not shown\nhint: --passcode-file FILE unlocks them\n"))
    }

    @Test("a passcode file that others can read is rejected, and the hint shows the chmod")
    func wideFile() throws {
        let shell = try prepared()
        let outcome = try shell.run(
            "chmod 644 \"$PASS\"; security find-generic-password -a a -w --passcode-file \"$PASS\"; echo $?")
        #expect(outcome.output == "53\n")
        #expect(outcome.error.contains("hint: chmod 600"))
    }

    @Test("an invalid passcode is reported, and nothing is set")
    func unusable() throws {
        let shell = try Shell()
        let outcome = try shell.run(
            """
            printf '\\n' | latchkey passcode set; echo $?
            printf 'short\\n' | latchkey passcode set; echo $?
            printf '\\377\\376\\377\\376\\377\\376\\n' | latchkey passcode set; echo $?
            head -c 1048576 /dev/zero | tr '\\0' x > "$LATCHKEY_HOME.long"; chmod 600 "$LATCHKEY_HOME.long"
            latchkey passcode set --passcode-file "$LATCHKEY_HOME.long"; echo $?
            latchkey passcode set < /dev/null; echo $?
            latchkey passcode set --passcode-fd 77; echo $?
            latchkey passcode remove < /dev/null; echo $?
            latchkey status --json | grep '"passcode"'
            """)
        #expect(outcome.output == "206\n206\n206\n206\n36\n206\n206\n  \"passcode\" : false,\n")
        let problems = outcome.error.split(separator: "\n").filter {
            $0.hasPrefix("latchkey: ") && !$0.contains("guessed")
        }
        #expect(problems.count == 7, "\(problems)")
    }

    @Test("the old and the new passcode are read from two lines, files or descriptors; a wrong one counts once", .long)
    func change() throws {
        let shell = try prepared()
        let outcome = try shell.run(
            """
            printf 'another passcode\\n' > "$LATCHKEY_HOME.new"; chmod 600 "$LATCHKEY_HOME.new"
            latchkey passcode change --passcode-file "$PASS" --new-passcode-file "$LATCHKEY_HOME.new" --rotate; echo $?
            security find-generic-password -a a -w --passcode-file "$PASS" 2> /dev/null; echo $?
            security find-generic-password -a a -w --passcode-file "$PASS" 2> /dev/null; echo $?
            printf '%s\\n' 'another passcode' 'correct horse battery' | latchkey passcode change; echo $?
            security find-generic-password -a a -w --passcode-file "$PASS"
            latchkey passcode remove --passcode-file "$PASS" 2> /dev/null; echo $?
            security find-generic-password -a a -w
            """)
        #expect(outcome.output == "0\n51\n51\n0\nv\n0\nv\n")
    }

    @Test(
        "without a daemon, lock and unlock fail because they have no effect; commands of one process share its lock"
    )
    func lockAndUnlock() throws {
        let shell = try prepared()
        let outcome = try shell.run(
            """
            latchkey lock; echo $?; latchkey unlock --passcode-file "$PASS"; echo $?; security lock-keychain 2> /dev/null; echo $?
            security unlock-keychain -p 'correct horse battery' 2> /dev/null; echo $?
            printf '%s\\n' 'unlock-keychain -p "correct horse battery"' 'find-generic-password -a a -w' | security -i 2> /dev/null
            security set-keychain-settings -lut 21600 --passcode-file "$PASS"; security show-keychain-info login.keychain 2>&1 | grep -o '" .*'
            latchkey settings --json | grep -c true
            """)
        #expect(outcome.output == "53\n53\n53\n53\nv\n\" lock-on-sleep timeout=21600s\n1\n")
        #expect(outcome.error.contains("hint: start latchkeyd; or give the passcode to each command"))
        // A keychain without a passcode is always unlocked, and scripts that unlock it continue.
        let open = try Shell().run(
            "security unlock-keychain -p anything login.keychain; echo $?; security lock-keychain; echo $?")
        #expect(open.output == "0\n206\n")
    }

    @Test("doctor checks locked items if the passcode is given, and reports the unchecked ones")
    func doctor() throws {
        let shell = try prepared()
        let outcome = try shell.run(
            "latchkey doctor | grep rows; latchkey doctor --passcode-file \"$PASS\" | grep rows")
        #expect(
            outcome.output == "ok       rows: all 0 open, 1 locked and not checked\nok       rows: all 1 open\n")
    }

    @Test("dump-keychain shows unlocked items, and reports that others are locked")
    func dump() throws {
        let shell = try prepared()
        let outcome = try shell.run(
            "security dump-keychain < /dev/null | grep -c acct; security dump-keychain --passcode-file \"$PASS\" | grep -c acct"
        )
        #expect(outcome.output == "0\n1\n")
        #expect(outcome.error.contains("locked items are not shown"))
    }

    @Test("a recovery key is printed once, and recovers the items if the device key is lost")
    func recovery() throws {
        let shell = try prepared()
        let outcome = try shell.run(
            """
            latchkey recovery-key create --passcode-file "$PASS" > "$LATCHKEY_HOME.paper" 2> /dev/null; chmod 600 "$LATCHKEY_HOME.paper"
            wc -c < "$LATCHKEY_HOME.paper"
            rm "$LATCHKEY_HOME/state/device.key"; security find-generic-password -a a -w 2> /dev/null; echo $?
            printf 'after the loss\\n' > "$LATCHKEY_HOME.new"; chmod 600 "$LATCHKEY_HOME.new"
            latchkey recovery-key use --dry-run --key-file "$LATCHKEY_HOME.paper"; echo $?
            ls "$LATCHKEY_HOME/state" | grep -c device.key
            latchkey recovery-key use --key-file "$LATCHKEY_HOME.paper" --passcode-file "$LATCHKEY_HOME.new" 2> /dev/null; echo $?
            security find-generic-password -a a -w --passcode-file "$LATCHKEY_HOME.new"
            echo 0000-0000-0000-0000-0000-0000-0000-0000 | latchkey recovery-key use; echo $?
            """)
        #expect(outcome.output == "40\n53\n0\n0\n0\nv\n206\n")
        #expect(outcome.error.contains("0 items that may not leave their device would be lost"))
    }

    @Test(
        "backup writes a file of mode 0600 and does not replace one; restore merges, and rejects a wrong passphrase",
        .long,
        .long
    )
    func backup() throws {
        let shell = try prepared()
        let outcome = try shell.run(
            """
            phrase() { printf 'the passphrase\\n'; }
            latchkey doctor | grep -o 'no backup was made, there is no recovery key'
            B="$LATCHKEY_HOME.backup"; export LATCHKEY_PASSCODE_FILE="$PASS"
            phrase | latchkey backup "$B" --json | grep -c '"items" : 1'; stat -c %a "$B"
            phrase | latchkey backup "$B" > /dev/null; echo $?; phrase | latchkey backup "$B" --force > /dev/null; echo $?
            security delete-generic-password -a a > /dev/null
            phrase | latchkey restore "$B" --dry-run > /dev/null; security find-generic-password -a a -w 2> /dev/null; echo $?
            printf 'wrong passphrase\\n' | latchkey restore "$B"; echo $?
            phrase | latchkey restore "$B" > /dev/null; security find-generic-password -a a -w
            phrase | latchkey restore /dev/null; echo $?; phrase | latchkey restore "$B.missing"; echo $?
            ls "$LATCHKEY_HOME".backup*
            latchkey doctor | grep -c 'the last backup was made on 20'
            """)
        #expect(
            outcome.output
                == "no backup was made, there is no recovery key\n1\n600\n45\n0\n44\n51\nv\n93\n220\n\(shell.directory.path)/home.backup\n1\n",
            "\(outcome.error)")
    }

    /// Returns a shell on a keychain with one item and a passcode; the file $PASS contains the
    /// passcode.
    private func prepared() throws -> Shell {
        let shell = try Shell()
        let outcome = try shell.run(
            """
            security add-generic-password -a a -s s -w v
            printf 'correct horse battery\\n' > "$PASS"; chmod 600 "$PASS"
            latchkey passcode set --passcode-file "$PASS"
            """)
        #expect(outcome.exit == 0, "\(outcome)")
        return shell
    }
}
