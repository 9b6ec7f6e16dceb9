// SPDX-License-Identifier: Apache-2.0
#include "agents/record.h"

namespace starling {

Record::Record() noexcept = default;
Record::Record(const Record& other) = default;
Record::Record(Record&& other) noexcept = default;
Record& Record::operator=(const Record& other) = default;
Record& Record::operator=(Record&& other) noexcept = default;
Record::~Record() = default;

}  // namespace starling
