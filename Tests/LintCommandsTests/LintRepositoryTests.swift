// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import Testing

/// `latchkey lint` in git repositories.
@Suite(
    "latchkey lint with git", .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/git"), "needs git"))
struct LintRepositoryTests {
    private let place: TemporaryDirectory

    init() throws {
        place = try TemporaryDirectory()
    }

    /// Runs a script in the repository, with latchkey in PATH.
    private func shell(_ script: String) throws -> Executable.Outcome {
        let programs = Executable.path("latchkey-lint").dropLast("/latchkey-lint".count)
        let environment = [
            "PATH": "\(programs):/usr/bin:/bin", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_COMMITTER_NAME": "a",
            "GIT_COMMITTER_EMAIL": "a@example.com",
        ]
        return try Executable.run(
            "/bin/sh", ["-c", "cd \"$1\" && \(script)", "sh", place.path], home: place.path,
            environment: environment)
    }

    @Test(
        "Every version of every file is scanned: of other branches, of commits that were amended, and of dropped stashes"
    )
    func history() throws {
        let made = try shell(
            """
            git init -q -b main . &&
            echo 'password = x8Kd02q-first' > a.ini && git add . && git commit -q -m one &&
            echo 'host = a' > a.ini && git commit -q -a -m two &&
            git checkout -q -b other && echo 'password = x8Kd02q-other7' > b.ini && git add . && git commit -q -m three &&
            git checkout -q main && echo 'password = x8Kd02q-amend9' > c.ini && git add . && git commit -q -m four &&
            echo 'host = b' > c.ini && git commit -q -a --amend -m four &&
            echo 'password = x8Kd02q-stash3' > a.ini && git stash -q && git stash drop -q &&
            git reflog expire --expire=now --all
            """)
        #expect(made.status == 0, "\(made)")
        let outcome = try shell("latchkey-lint lint --history --json .")
        #expect(outcome.status == 1, "\(outcome)")
        let found = outcome.output.matches(of: /"file" : "[0-9a-f]{12}\/(.*)"/).map { String($0.output.1) }
        #expect(found.sorted() == ["a.ini", "b.ini", "unreachable", "unreachable"], "\(outcome.output)")
        #expect(try shell("latchkey-lint lint .").status == 0)
    }

    @Test("A hook refuses a commit with a secret, and only what is staged counts")
    func hook() throws {
        #expect(try shell("git init -q . && latchkey lint install-hook").status == 0)
        let again = try shell("latchkey lint install-hook")
        #expect(again.status != 0 && again.error.contains("hint: add the line"))
        try Data("password = x8Kd02q-lpA7\n".utf8).write(to: URL(filePath: "\(place.path)/a.ini"))
        let refused = try shell("git add a.ini && git commit -q -m one")
        #expect(refused.status != 0 && (refused.output + refused.error).contains("a.ini:1:12"), "\(refused)")
        let accepted = try shell(
            "echo 'host = a' > a.ini && git add a.ini && echo 'password = x8Kd02q-lpA7' > a.ini && git commit -q -m one"
        )
        #expect(accepted.status == 0, "\(accepted)")
        #expect(
            try shell("git add a.ini && latchkey lint --write-baseline .latchkey-baseline.json --staged").status
                == 0)
        #expect(try shell("git commit -q -m two").status == 0)
    }

    @Test("The hook scans what a commit of changes or of a file contains, and lets submodules pass")
    func hookIndex() throws {
        let made = try shell(
            """
            git init -q . && echo 'host = a' > a.ini && git add . && git commit -q -m one && git init -q sub &&
            (cd sub && git commit -q --allow-empty -m one) && latchkey lint install-hook &&
            echo 'password = x8Kd02q-lpA7' > a.ini
            """)
        #expect(made.status == 0, "\(made)")
        for commit in ["git commit -q -a -m two", "git commit -q -m two a.ini"] {
            let refused = try shell(commit)
            #expect(refused.status != 0 && (refused.output + refused.error).contains("a.ini:1:12"), "\(refused)")
        }
        let accepted = try shell("git checkout -q a.ini && git add sub && git commit -q -m sub")
        #expect(accepted.status == 0, "\(accepted)")
    }

    @Test("Settings of the repository and its folders leave nothing out")
    func settings() throws {
        let made = try shell(
            """
            git init -q . && mkdir src vendor && git config diff.relative true && git config diff.orderFile /nonexistent &&
            echo 'password = x8Kd02q-lpA7' > src/a.ini && cp src/a.ini vendor/ && git add . &&
            printf 'exclude: [src/*]\\n' > .latchkeylint.yaml
            """)
        #expect(made.status == 0, "\(made)")
        #expect(try shell("latchkey-lint lint --staged .").output.contains("vendor/a.ini:1:12"))
        #expect(try shell("cd vendor && latchkey-lint lint --staged").output.contains("src/a.ini:1:12"))
        #expect(
            try shell("git commit -q -m one && latchkey-lint lint --history .").output.contains("/vendor/a.ini:1:12"))
    }

    @Test("A repository that git cannot read is an error, and not one without findings")
    func damage() throws {
        let made = try shell(
            """
            git init -q . && echo 'password = x8Kd02q-lpA7' > a.ini && git add . && git commit -q -m one &&
            cp .git/index good && echo garbage > .git/index
            """)
        #expect(made.status == 0, "\(made)")
        let index = try shell("latchkey-lint lint --staged .")
        #expect(index.status > 2 && index.error.contains("git has failed"), "\(index)")
        let objects = try shell(
            "cp good .git/index && find .git/objects -type f | while read -r f; do chmod u+w $f; echo x > $f; done; latchkey-lint lint --history ."
        )
        #expect(objects.status >= 2, "\(objects)")
    }

    @Test("A folder without a repository is an error")
    func noRepository() throws {
        for option in ["--history", "--staged"] {
            let outcome = try shell("latchkey-lint lint \(option) .")
            #expect(outcome.status != 0 && outcome.status != 1 && !outcome.error.isEmpty, "\(option): \(outcome)")
        }
    }

    @Test("A repository's configuration starts no program")
    func hostileRepository() throws {
        let made = try shell(
            """
            git init -q . && echo 'host = a' > a.ini && git add . && git commit -q -m one &&
            git config core.fsmonitor 'touch started' && git config diff.external 'touch started' &&
            git config core.pager 'touch started' && git config filter.x.clean 'touch started' &&
            git config core.hooksPath . && echo '*.ini filter=x diff=x' > .gitattributes && git config diff.x.textconv 'touch started'
            """)
        #expect(made.status == 0, "\(made)")
        for option in ["--history", "--staged"] { _ = try shell("latchkey-lint lint \(option) .") }
        #expect(!FileManager.default.fileExists(atPath: "\(place.path)/started"))
    }
}
