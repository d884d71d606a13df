// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
import Glibc

/// The arguments of the process, its name first; available even if /proc is missing.
public enum ProcessArguments {
    /// Calls `body` with the bytes of each argument and returns the results.
    public static func map<Value>(_ body: (UnsafeRawBufferPointer) -> Value) -> [Value] {
        (0..<max(latchkey_argument_count(), 0)).compactMap { index in
            latchkey_argument(index).map { body(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
        }
    }

    /// The arguments as text; bytes that are not UTF-8 are replaced.
    public static var all: [String] { map { String(decoding: $0, as: UTF8.self) } }
}
