// SPDX-License-Identifier: Apache-2.0

#if !Transport
    #error("LatchkeyRedirections needs the trait Transport: .package(url: …, from: …, traits: [\"Transport\"])")
#endif

// A call of a later Foundation that is not in FoundationCalls.h would be Foundation's, without a word.
#if compiler(>=6.4)
    #error("the redirections are not checked with this Swift: see 'Toolchains' in Documentation/Redirections.md")
#endif
