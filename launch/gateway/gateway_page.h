// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace starling {

// The page for people (launch/gateway/page/), as the build has put it into the program.
extern const char* const kGatewayPage;    ///< HTML
extern const char* const kGatewayStyle;   ///< CSS, with that of all pages before it
extern const char* const kGatewayScript;  ///< JavaScript, with what all pages share before it

}  // namespace starling
