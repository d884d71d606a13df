// SPDX-License-Identifier: Apache-2.0

#if !Tools
    #error("latchkey-lint needs the trait Tools: swift build --enable-all-traits")
#endif
