// SPDX-License-Identifier: Apache-2.0

#if !Transport
    #error("LatchkeyNIOSSL needs the trait Transport: .package(url: …, from: …, traits: [\"Transport\"])")
#endif
