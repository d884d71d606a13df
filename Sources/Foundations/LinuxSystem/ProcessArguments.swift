// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
import Glibc

/// The arguments that the process was started with, its name first; also where /proc is missing.
public enum ProcessArguments {
    /// Makes something of the bytes of each argument.
    public static func map<Value>(_ body: (UnsafeRawBufferPointer) -> Value) -> [Value] {
        (0..<max(latchkey_argument_count(), 0)).compactMap { index in
            latchkey_argument(index).map { body(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
        }
    }

    /// The arguments as text; what is not UTF-8 is replaced.
    public static var all: [String] { map { String(decoding: $0, as: UTF8.self) } }
}
