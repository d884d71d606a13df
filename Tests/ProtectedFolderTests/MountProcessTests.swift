// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import KeychainTesting
import Testing

/// `latchkey mount` as a user types it, and the process in the background that serves the folder.
@Suite("Process of a mounted folder", .enabled(if: TestFolder.isAvailable, TestFolder.reason))
struct MountProcessTests {
    private let place: MountCommandPlace

    init() throws { place = try MountCommandPlace() }

    @Test("A folder is mounted in the background and holds files; --unmount removes it, and ends its process")
    func background() throws {
        try mount("--class", "complete", place.store, place.mount)
        #expect(place.mounts(at: place.mount) == 1)
        #expect(place.servers.count == 1)
        let bytes = sampleBytes(300_001)
        try Call.write(bytes, to: place.mount + "/private diary.txt")
        #expect(try Call.read(place.mount + "/private diary.txt") == bytes)
        try unmount(place.mount)
        #expect(place.mounts(at: place.mount) == 0)
        #expect(try Call.names(place.mount) == [])
        #expect(eventually { place.servers.isEmpty })
        let stored = try Call.names(place.store)
        #expect(stored.count == 2 && !stored.contains { $0.contains("diary") })
        // The class is in the store.
        try mount(place.store, place.mount)
        #expect(try Call.read(place.mount + "/private diary.txt") == bytes)
    }

    @Test("A keychain in a mounted folder (FUSE) is refused, and nothing is created")
    func unsafeFileSystem() throws {
        try mount("--class", "none", place.store, place.mount)
        let home = place.mount + "/home"
        let added = try place.shell("echo s3cret | LATCHKEY_HOME=\"$2\" LATCHKEY_NO_DAEMON=1 \"$1\" set a/b", home)
        #expect(added.status == 53 && added.text.contains("is on FUSE"), "\(added)")
        #expect(!FileManager.default.fileExists(atPath: home + "/data/keychain.db"))
        try unmount(place.mount)
    }

    @Test(
        "After kill -9, the same place is mounted again, or unmounted, with all synchronized content",
        arguments: [false, true], [false, true])
    func killed(over: Bool, unmounts: Bool) throws {
        let point = over ? place.store : place.mount
        let words = over ? [place.store] : [place.store, place.mount]
        try mount(["--class", "complete"] + words)
        let (old, new) = (sampleBytes(200_000, 1), sampleBytes(150_000, 2))
        for name in ["closed", "changed"] { try writeDurably(old, point + "/" + name) }
        let open = try Call.open(point + "/open", O_CREAT | O_RDWR)
        defer { close(open) }
        try Call.check(pwrite(open, new, new.count, 0))
        try Call.check(fsync(open))
        // An unsynchronized change may be lost, as a whole.
        let changed = try Call.open(point + "/changed", O_RDWR)
        defer { close(changed) }
        try Call.check(pwrite(changed, new, new.count, 0))
        // The kernel has the attributes of the directory in its cache from now on.
        _ = try Call.status(point)
        try kill(point)
        if unmounts {
            let ended = try place.latchkey("mount", "--unmount", point)
            #expect(ended.status == 0, "\(ended)")
            #expect(place.mounts(at: point) == 0)
            // Of a store there are the encrypted names.
            let names = try Call.names(point)
            #expect(over ? names.count == 4 && !names.contains("open") : names == [])
        }
        try mount(words)
        #expect(place.mounts(at: point) == 1)
        #expect(place.servers.count == 1)
        #expect(try Call.names(point) == ["changed", "closed", "open"])
        #expect(try Call.read(point + "/closed") == old)
        #expect(try Call.read(point + "/open") == new)
        let found = try Call.read(point + "/changed")
        #expect(found == old || found == new + old.dropFirst(new.count))
        try unmount(point)
        #expect(place.mounts(at: point) == 0)
        #expect(eventually { place.servers.isEmpty })
    }

    @Test(
        "When latchkeyd has ended, no page of an open file is readable, also none that was in the page cache", .long,
        arguments: [SIGKILL, SIGTERM])
    func lostDaemon(_ signal: Int32) throws {
        let daemon = try place.daemon()
        let set = try place.shell(
            "umask 077; echo correct horse battery > passcode; \"$1\" passcode set --passcode-file passcode < /dev/null"
        )
        try #require(set.status == 0, "\(set)")
        try mount("--class", "complete", place.store, place.mount)
        let bytes = sampleBytes(144 * 4096)
        try writeDurably(bytes, place.mount + "/a")
        do {
            let open = try Call.open(place.mount + "/a", O_RDONLY)
            defer { close(open) }
            #expect(try Call.read(open) == bytes)
            daemon.stop(signal: signal)
            var page = [UInt8](repeating: 0, count: 4096)
            func readable() -> Int { (0..<144).count { pread(open, &page, page.count, off_t($0 * page.count)) > 0 } }
            #expect(eventually { readable() == 0 }, "\(readable()) pages")
            #expect(pread(open, &page, page.count, 0) == -1 && errno == EACCES, "\(errno)")
            // A daemon that starts later is locked until someone enters the passcode.
            try daemon.start()
            #expect(readable() == 0)
        }
        let unlocked = try place.shell("\"$1\" unlock --passcode-file passcode")
        try #require(unlocked.status == 0, "\(unlocked)")
        #expect(eventually { (try? Call.read(place.mount + "/a")) == bytes })
        try unmount(place.mount)
        daemon.stop()
    }

    @Test("When --unmount returns, new files are stored, and the process of the folder has ended", .long)
    func unmountWaits() throws {
        for round in 0..<5 {
            try mount("--class", "complete", place.store, place.mount)
            let bytes = sampleBytes(4_000_000, UInt64(round))
            try Call.write(bytes, to: place.mount + "/file\(round)")
            try unmount(place.mount)
            #expect(place.servers.isEmpty, "round \(round)")
            #expect(try Call.names(place.store).count == round + 2)
        }
        try mount(place.store, place.mount)
        for round in 0..<5 {
            #expect(try Call.read(place.mount + "/file\(round)") == sampleBytes(4_000_000, UInt64(round)))
        }
        try unmount(place.mount)
    }

    @Test("A folder that is mounted at . has a record, and --unmount waits by it; that of a killed process is removed")
    func mountedHere() throws {
        let ended = try place.shell(
            #"""
            umask 077; mkdir -p home/state/mounts && : > home/state/mounts/0 || exit 1
            (cd "$3" && "$1" mount --class complete "../$2" .) || exit 2
            record=$(ls home/state/mounts); test "$(echo "$record" | wc -w)" = 1 && test "$record" != 0 || exit 3
            grep -q "^$record .*/$3 " /proc/self/mountinfo || exit 4
            head -c 4000000 /dev/zero > "$3/file" && "$1" mount --unmount "$3" || exit 5
            test -z "$(ls home/state/mounts)" || exit 6
            """#, place.storeName, place.mountName)
        #expect(ended.status == 0, "\(ended)")
        #expect(place.servers.isEmpty)
    }

    @Test("If the record of a folder cannot be created, the mount fails, and nothing is mounted")
    func recordFails() throws {
        let prepared = try place.shell("umask 077; mkdir -p home/state && : > home/state/mounts")
        try #require(prepared.status == 0, "\(prepared)")
        let ended = try place.latchkey("mount", "--class", "complete", place.store, place.mount)
        #expect(ended.status != 0 && ended.text.contains("Not a directory"), "\(ended)")
        #expect(place.mounts(at: place.mount) == 0 && !place.isDead(place.mount))
        #expect(eventually { place.servers.isEmpty })
    }

    @Test(
        "A folder is mounted without space for its record; with it, --unmount succeeds on a disk that is full since",
        .enabled(if: geteuid() == 0, "mounts a file system of its own"), arguments: ["ro", "size=8k"])
    func fullDisk(_ option: String) throws {
        let ended = try place.shell(
            #"""
            umask 077; mkdir -p home/state/mounts || exit 1
            unshare -m sh -c '
                mount -t tmpfs -o "$4,mode=700" none home/state/mounts || exit 2
                "$1" mount --class none "$2" "$3" > said 2>&1 || exit 3
                case $4 in
                    ro) grep -q "will not wait until everything is stored: .*Read-only file system" said || exit 4;;
                    *) yes > home/state/mounts/full 2> /dev/null; test -s home/state/mounts/full || exit 5;;
                esac
                echo text > "$3/file" && "$1" mount --unmount "$3" || exit 6
                test ! -e "$3/file"' sh "$@"
            """#, place.storeName, place.mountName, option)
        #expect(ended.status == 0, "\(ended)")
        #expect(eventually { place.servers.isEmpty })
    }

    @Test("A mounted folder with an open file sleeps while no program uses it", .long)
    func idle() throws {
        try mount("--class", "complete", place.store, place.mount)
        let open = try Call.open(place.mount + "/open", O_CREAT | O_RDWR)
        let server = try #require(place.servers.first)
        try Rest.requireSleep(["latchkey mount": server], in: TemporaryDirectory())
        close(open)
        try unmount(place.mount)
    }

    @Test("In the foreground, --unmount and SIGTERM end the process with 0", arguments: [false, true])
    func foreground(_ isSignalled: Bool) throws {
        let process = try place.start("mount", "--foreground", "--class", "none", place.store, place.mount)
        #expect(eventually { place.mounts(at: place.mount) == 1 || !process.isRunning })
        try Call.write([1, 2, 3], to: place.mount + "/a")
        if isSignalled {
            try Call.check(Glibc.kill(process.processIdentifier, SIGTERM))
        } else {
            try unmount(place.mount)
        }
        #expect(eventually { !process.isRunning })
        #expect(process.stop(signal: SIGKILL) == 0)
        #expect(place.mounts(at: place.mount) == 0)
        try mount(place.store, place.mount)
        #expect(try Call.read(place.mount + "/a") == [1, 2, 3])
    }

    @Test("SIGTERM ends a process in the background and unmounts, also if it was started with relative paths")
    func terminated() throws {
        for words in [[place.store, place.mount], [place.storeName, place.mountName]] {
            try mount(["--class", "first-unlock"] + words)
            try Call.write(Array(words[0].utf8), to: place.mount + "/a")
            try Call.check(Glibc.kill(try #require(place.servers.first), SIGTERM))
            try #require(eventually { place.mounts(at: place.mount) == 0 }, "\(words)")
            try #require(eventually { place.servers.isEmpty }, "\(words)")
        }
        try mount(place.store, place.mount)
        #expect(try Call.read(place.mount + "/a") == Array(place.storeName.utf8))
    }

    @Test("A folder that is mounted over its store, or that a program uses, is refused by name, and stays")
    func refusals() throws {
        try mount("--class", "complete", place.store)
        try Call.write([1], to: place.store + "/a")
        let again = try place.latchkey("mount", place.store)
        #expect(again.status != 0 && again.text.contains("hint: it is mounted already"), "\(again)")
        let file = try Call.open(place.store + "/a", O_RDONLY)
        let used = try place.latchkey("mount", "--unmount", place.store)
        #expect(used.status != 0 && used.text.contains("Device or resource busy"), "\(used)")
        #expect(try Call.read(file) == [1])
        close(file)
        #expect(place.mounts(at: place.store) == 1 && place.servers.count == 1)
        try unmount(place.store)
    }

    @Test("A store and a mount point with non-UTF-8 names are mounted and unmounted, and no other directory")
    func names() throws {
        let ended = try place.shell(
            #"""
            name="$(printf 'm\351')-$2"; mkdir "$name" "s$name"; before=$(ls -A)
            "$1" mount --class complete "s$name" "$name" || exit 1
            echo text > "$name/file" && test -s "$name/file" || exit 2
            "$1" mount --unmount "$name" || exit 3
            test ! -e "$name/file" && "$1" mount "s$name" "$name" || exit 4
            grep -q text "$name/file" || exit 5
            "$1" mount --unmount "$name" || exit 6
            test "$(ls -A | grep -v '^output-')" = "$(echo "$before" | grep -v '^output-')" || exit 7
            """#, place.storeName)
        #expect(ended.status == 0, "\(ended)")
        #expect(eventually { place.servers.isEmpty })
    }

    @Test(
        "With --allow-other the kernel lets other users in", .enabled(if: geteuid() == 0, "a user may need fuse.conf"))
    func allowOther() throws {
        try mount("--class", "complete", "--allow-other", place.store, place.mount)
        // Other tests mount directories with names that are not UTF-8.
        func table() throws -> [Substring] {
            let bytes = try Data(contentsOf: URL(filePath: "/proc/self/mountinfo"))
            return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        }
        let line = try #require(try table().first { $0.contains(place.mountName) })
        #expect(line.contains("allow_other") && line.contains("default_permissions"))
        try unmount(place.mount)
        try mount(place.store, place.mount)
        #expect(try table().first { $0.contains(place.mountName) }?.contains("allow_other") == false)
    }

    @Test(
        "Directories that do not exist are created for this user alone, and stay",
        arguments: [false, true])
    func createsDirectories(over: Bool) throws {
        let names = over ? ["new-\(place.storeName)"] : ["new-\(place.storeName)", "new-\(place.mountName)"]
        let ended = try place.shell(
            #"""
            umask 0; "$1" mount --class complete "$2" $3 || exit 1
            echo text > "${3:-$2}/file" && "$1" mount --unmount "${3:-$2}" || exit 2
            test "$(stat -c %a "$2" $3 | sort -u)" = 700 || exit 3
            "$1" mount "$2" $3 && grep -q text "${3:-$2}/file" && "$1" mount --unmount "${3:-$2}" || exit 4
            """#, names[0], names.count > 1 ? names[1] : "")
        #expect(ended.status == 0, "\(ended)")
        #expect(eventually { place.servers.isEmpty })
    }

    @Test("A directory is not created below a missing one, in place of a file, or behind a link to nothing")
    func impossibleDirectories() throws {
        let ended = try place.shell(
            #"""
            : > file; ln -s nothing link; before=$(ls -A)
            fails() { text=$1; shift; ! "$program" mount --class none "$@" > said 2>&1 && grep -q "$text" said && rm said; }
            program=$1
            fails "hint: its parent does not exist: mkdir -p none/deep" none/deep/store "$3" || exit 1
            fails "hint: its parent does not exist: mkdir -p none" new none/mount || exit 2
            fails "cannot mount file: Not a directory" file || exit 3
            fails "cannot mount file: Not a directory" new file || exit 4
            fails "hint: it is a symbolic link to a missing target" link || exit 5
            fails "No such file or directory" --read-only new || exit 6
            test "$(ls -A | grep -v '^output-')" = "$(echo "$before" | grep -v '^output-')" || exit 7
            """#, place.storeName, place.mountName)
        #expect(ended.status == 0, "\(ended)")
        #expect(place.servers.isEmpty)
    }

    @Test("A mount that fails says so, leaves nothing mounted, and no process")
    func failures() throws {
        let wrong = try place.latchkey("-v", "mount", "--bad", place.store)
        #expect(wrong.status == 2 && wrong.text.hasSuffix(" is not valid [LK1001]\n"), "\(wrong)")
        try mount("--class", "complete", place.store, place.mount)
        try unmount(place.mount)
        #expect(eventually { place.servers.isEmpty })
        let other = try place.latchkey("mount", "--class", "none", place.store, place.mount)
        #expect(other.status != 0 && other.text.contains("hint: the folder has the class complete"), "\(other)")
        #expect(place.mounts(at: place.mount) == 0 && place.servers.isEmpty)
    }

    // MARK: Helpers

    private func mount(_ words: String...) throws { try mount(words) }

    private func mount(_ words: [String]) throws {
        let ended = try place.latchkey(["mount"] + words)
        try #require(ended.status == 0, "\(ended)")
    }

    /// Unmounts; a child that another test has just started can have a copy of a descriptor until it runs its program.
    private func unmount(_ point: String) throws {
        var last: MountCommandPlace.Ended?
        let isDone = try eventually {
            last = try place.latchkey("mount", "--unmount", point)
            return last?.status == 0 || last?.text.contains("busy") != true
        }
        try #require(isDone && last?.status == 0, "\(String(describing: last))")
    }

    /// Kills the process that serves a mount point, and waits until the kernel knows.
    private func kill(_ point: String) throws {
        let servers = place.servers
        try #require(servers.count == 1)
        try Call.check(Glibc.kill(servers[0], SIGKILL))
        try #require(eventually { place.isDead(point) })
    }

    private func writeDurably(_ bytes: [UInt8], _ path: String) throws {
        let file = try Call.open(path, O_CREAT | O_WRONLY)
        defer { close(file) }
        try Call.check(Glibc.write(file, bytes, bytes.count))
        try Call.check(fsync(file))
    }
}
