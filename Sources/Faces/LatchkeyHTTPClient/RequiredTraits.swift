// SPDX-License-Identifier: Apache-2.0

#if !HTTPClient
    #error("LatchkeyHTTPClient requires the trait HTTPClient of the package latchkey")
#endif
