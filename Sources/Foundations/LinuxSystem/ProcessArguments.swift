// SPDX-License-Identifier: Apache-2.0

internal import CLatchkey
import Glibc

/// The arguments of the process, its name first; available even if /proc is missing.
public enum ProcessArguments {
    /// Calls `body` with the bytes of each argument and returns the results.
    public static func map<Value>(_ body: (UnsafeRawBufferPointer) -> Value) -> [Value] {
        var (values, index) = ([Value](), Int32(0))
        while index < latchkey_argument_count(), let argument = latchkey_argument(index) {
            values.append(body(UnsafeRawBufferPointer(start: argument, count: strlen(argument))))
            index += 1
        }
        return values
    }

    /// The arguments as text for messages; bytes that are not UTF-8 are replaced.
    public static var all: [String] { map { String(decoding: $0, as: UTF8.self) } }

    /// Returns the arguments after the name of the process, for a program that takes only text.
    ///
    /// - Throws: `EILSEQ` for an argument that is not UTF-8, because it would name something else as text.
    public static func texts() throws(SystemError) -> [String] {
        var texts: [String] = []
        for argument in map({ FilePath(bytes: $0) }).dropFirst() {
            guard let text = argument.text else {
                throw SystemError("use the argument", path: argument, code: EILSEQ, hint: "give it as UTF-8")
            }
            texts.append(text)
        }
        return texts
    }
}
