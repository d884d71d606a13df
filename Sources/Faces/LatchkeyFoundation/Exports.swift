// SPDX-License-Identifier: Apache-2.0

// `import LatchkeyFoundation` takes the place of `import Foundation`: the functions of this module hide
// those of the same names. A file that imports both does not compile where it calls one of them, so
// that no file is written without its protection by mistake.
@_exported public import Foundation
