// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A shared library that is loaded when it is first used, and stays loaded.
///
/// A decoder that is loaded so is no dependency: a system without it has one content encoding less.
/// Unchecked, because the handle of dlopen(3) is only read.
struct DynamicLibrary: @unchecked Sendable {
    private let handle: UnsafeMutableRawPointer

    /// Nil if the library is not installed.
    init?(_ name: String) {
        guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else { return nil }
        self.handle = handle
    }

    /// The function with a name; nil if there is none.
    ///
    /// - Parameter type: its type in C, as the library's header declares it.
    func function<Function>(_ name: String, as type: Function.Type) -> Function? {
        guard let symbol = dlsym(handle, name) else { return nil }
        // unsafeBitCast, because dlsym(3) returns every function as a data pointer.
        return unsafeBitCast(symbol, to: type)
    }
}
