// SPDX-License-Identifier: Apache-2.0

#if !Transport
    #error("LatchkeyRedirections needs the trait Transport: .package(url: …, from: …, traits: [\"Transport\"])")
#endif
