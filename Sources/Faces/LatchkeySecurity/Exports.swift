// SPDX-License-Identifier: Apache-2.0

// `import Security` is often the only import in code written for Apple's platforms: there it
// includes Foundation, and URL loading is part of Foundation. This module therefore re-exports both
// (apple-compat, decision 3).
@_exported public import Foundation
@_exported public import FoundationNetworking
