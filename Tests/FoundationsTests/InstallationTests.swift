// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainTesting
import LinuxSystem
import Testing

@Suite("The programs of an installation")
struct InstallationTests {
    @Test(
        "A command finds the daemons in libexec/latchkey, a daemon finds the commands in bin, and a build has all together",
        arguments: [
            ("usr/bin", "usr/libexec/latchkey"), ("usr/libexec/latchkey", "usr/bin"), ("build", "build"),
        ])
    func places(_ own: String, _ other: String) throws {
        let tree = try TemporaryDirectory()
        for directory in [own, other] {
            try FileManager.default.createDirectory(
                atPath: "\(tree.path)/\(directory)", withIntermediateDirectories: true)
        }
        let installation = Installation(of: "\(tree.path)/\(own)/first")
        #expect(installation.program("second") == nil)
        let second = "\(tree.path)/\(other)/second"
        try Data().write(to: URL(filePath: second))
        #expect(installation.program("second") == nil, "a file that cannot be executed is no program")
        #expect(chmod(second, 0o755) == 0)
        #expect(installation.program("second") == second)
    }

    @Test(
        "The directories are those of the installation with any prefix, and none beside an unknown one",
        arguments: [
            ("/usr/bin/latchkey", ["/usr/libexec/latchkey", "/usr/bin"]),
            ("/bin/latchkey", ["/libexec/latchkey", "/bin"]),
            ("/libexec/latchkey/latchkeyd", ["/libexec/latchkey", "/bin"]),
            ("/opt/libexec/latchkey/latchkeyd", ["/opt/libexec/latchkey", "/opt/bin"]),
            ("/tmp/build/program", ["/tmp/build"]),
        ])
    func directories(_ executable: String, _ directories: [String]) {
        #expect(Installation(of: executable).directories == directories)
    }
}
