// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import Glibc

/// A new directory with mode 0700. It is removed at the end, also after Ctrl-C.
final class TemporaryDirectory {
    let path: String
    private let signalSources: [any DispatchSourceSignal]

    init(in parent: String) throws {
        let parent = URL(fileURLWithPath: parent).path
        var template = Array("\(parent)/latchkey-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw BenchmarkFailure("cannot create a directory in \(parent): \(String(cString: strerror(errno)))")
        }
        let made = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        path = made
        signalSources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                TemporaryDirectory.removeTree(made)
                _exit(128 + number)
            }
            source.resume()
            return source
        }
    }

    func remove() {
        Self.removeTree(path)
    }

    private static func removeTree(_ path: String) {
        // Mounted file systems in it are not removed with it.
        MountTable.detach(below: path)
        do {
            try FileManager.default.removeItem(atPath: path)
        } catch {
            ProgressLine.say("cannot remove \(path): \(error)")
        }
    }
}
