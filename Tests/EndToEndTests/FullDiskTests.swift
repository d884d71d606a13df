// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import Testing

/// The mount of a file system that a test fills. Outside of the suite, because it is its condition.
private enum FullDisk {
    /// The options of unshare(1) that allow a file system to be mounted here; nil for none.
    static let options: [String]? = [["--mount"], ["--mount", "--user", "--map-root-user"]].first { options in
        guard let directory = try? TemporaryDirectory() else { return false }
        let words = options + ["mount", "-t", "tmpfs", "-o", "size=64k", "latchkey-test", directory.path]
        return (try? Executable.run("/usr/bin/unshare", words, home: ""))?.status == 0
    }
}

extension ProcessProofs {
    /// Deletions on a file system that a test fills, in a mount namespace of its own: of root, or of a user who may
    /// make one.
    @Suite(
        "Deletions on a full disk", .enabled(if: FullDisk.options != nil, "needs unshare(1) and mount namespaces"))
    struct FullDiskTests {
        /// The beginning of every script: a file system of 4 MiB with a keychain, and functions. A step prints its name
        /// and the exit value of its command.
        private static let start = """
            set -u
            mount -t tmpfs -o size=4m,mode=700 latchkey-test "$SMALL" || exit 99
            step() { name=$1; shift; "$@" > "$OUTPUT/$name" 2>&1; echo "$name $?"; }
            quiet() { "$@" > "$OUTPUT/quiet" 2>&1 || { echo "failed: $*"; cat "$OUTPUT/quiet"; exit 98; }; }
            fill() {
                dd if=/dev/zero of="$SMALL/filler" bs=4096 2> /dev/null
                dd if=/dev/zero of="$SMALL/filler2" bs=1 count=4096 2> /dev/null
                test "$(df --output=avail "$SMALL" | tail -1)" -eq 0 || exit 97
            }
            reserve() { echo "reserve $(stat -c %s "$LATCHKEY_HOME/data/keychain.db-reserve")"; }
            add() { "$LATCHKEY" add-generic-password -a "$1" -s s -w "$2"; }
            delete() { "$LATCHKEY" delete-generic-password -a "$1" -s s; }
            find() { "$LATCHKEY" find-generic-password -a "$1" -s s -w; }
            """

        private func run(_ script: String, _ more: [String: String] = [:]) throws -> [String] {
            let directory = try TemporaryDirectory()
            for name in ["small", "output", "run"] {
                try FileManager.default.createDirectory(
                    atPath: "\(directory.path)/\(name)", withIntermediateDirectories: false,
                    attributes: [.posixPermissions: 0o700])
            }
            var environment = [
                "SMALL": "\(directory.path)/small", "OUTPUT": "\(directory.path)/output",
                "XDG_RUNTIME_DIR": "\(directory.path)/run", "LATCHKEY": Executable.path("latchkey"),
                "LATCHKEYD": Executable.path("latchkeyd"), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            ]
            environment.merge(more) { $1 }
            let outcome = try Executable.run(
                "/usr/bin/unshare", try #require(FullDisk.options) + ["/bin/sh", "-c", "\(Self.start)\n\(script)"],
                home: "\(directory.path)/small/home", environment: environment)
            #expect(outcome.status == 0, "\(outcome)")
            return outcome.output.split(separator: "\n").map(String.init)
        }

        @Test(
            "Items, those of collections, keychains and stored files are deleted, and nothing is added before there is space"
        )
        func embedded() throws {
            let steps = try run(
                """
                for number in 0 1 2 3 4 5; do quiet add "a$number" "secret $number"; done
                head -c 600000 /dev/zero | tr '\\0' x > "$OUTPUT/large"
                quiet "$LATCHKEY" set s/large --secret-file "$OUTPUT/large"
                quiet "$LATCHKEY" create-keychain -p "" extra.keychain-db
                quiet "$LATCHKEY" collection create Work
                quiet "$LATCHKEY" protect move --to-keychain s/file "$OUTPUT/large"
                fill
                step found find a1
                step add add more x
                step deleted delete a0
                step gone find a0
                step kept find a1
                step again delete a1
                step large "$LATCHKEY" rm --force s/large
                step collection "$LATCHKEY" collection delete --force Work
                step file "$LATCHKEY" rm --force s/file
                step keychain "$LATCHKEY" delete-keychain extra.keychain-db
                step last find a5
                rm "$SMALL/filler" "$SMALL/filler2"
                step more add more x
                reserve
                """)
            #expect(
                steps == [
                    "found 0", "add 222", "deleted 0", "gone 44", "kept 0", "again 0", "large 0", "collection 0",
                    "file 0", "keychain 0", "last 0", "more 0", "reserve 524288",
                ])
        }

        @Test("A keychain with a passcode is unlocked, and its items are deleted; a wrong passcode counts", .long)
        func locked() throws {
            let steps = try run(
                """
                umask 077
                echo "a passcode" > "$OUTPUT/right.txt"
                echo "another passcode" > "$OUTPUT/wrong.txt"
                for number in 0 1 2 3; do quiet add "a$number" "secret $number"; done
                quiet "$LATCHKEY" passcode set --passcode-file "$OUTPUT/right.txt"
                fill
                step locked find a1
                step wrong "$LATCHKEY" find-generic-password -a a1 -s s -w --passcode-file "$OUTPUT/wrong.txt"
                attempts() { "$LATCHKEY" status --json | grep '"count" : 1'; }
                step counted attempts
                step found "$LATCHKEY" find-generic-password -a a1 -s s -w --passcode-file "$OUTPUT/right.txt"
                step deleted "$LATCHKEY" delete-generic-password -a a0 --passcode-file "$OUTPUT/right.txt"
                step gone "$LATCHKEY" find-generic-password -a a0 -s s --passcode-file "$OUTPUT/right.txt"
                rm "$SMALL/filler" "$SMALL/filler2"
                step more "$LATCHKEY" add-generic-password -a more -s s -w x --passcode-file "$OUTPUT/right.txt"
                reserve
                """)
            #expect(
                steps == [
                    "locked 36", "wrong 51", "counted 0", "found 0", "deleted 0", "gone 44", "more 0", "reserve 524288",
                ])
        }

        @Test("Items are deleted through latchkeyd with its audit log on the full disk")
        func daemon() throws {
            let steps = try run(
                """
                unset LATCHKEY_NO_DAEMON
                "$LATCHKEYD" --user > "$OUTPUT/daemon" 2>&1 &
                daemon=$!
                for wait in $(seq 300); do test -S "$XDG_RUNTIME_DIR/latchkey/socket" && break; sleep 0.1; done
                for number in 0 1 2 3; do quiet add "a$number" "secret $number"; done
                fill
                step add add more "$(head -c 100000 /dev/zero | tr '\\0' x)"
                step deleted delete a0
                step gone find a0
                step again delete a1
                step kept find a2
                rm "$SMALL/filler" "$SMALL/filler2"
                step more add more x
                kill "$daemon"
                wait "$daemon"
                echo "daemon $?"
                """)
            #expect(
                steps == [
                    "add 222", "deleted 0", "gone 44", "again 0", "kept 0", "more 0", "daemon 0",
                ])
        }
    }
}
