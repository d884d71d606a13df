// SPDX-License-Identifier: Apache-2.0

#if !Tools || !Transport
    #error("latchkey-tls needs the traits Tools and Transport: swift build --enable-all-traits")
#endif
