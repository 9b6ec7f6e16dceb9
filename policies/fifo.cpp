#include "policies/builtin.h"
#include "policies/queue_policy.h"

namespace starling {
namespace {

constexpr PolicyFacts kFacts{
    .name = "fifo", .summary = "in order of submission", .family = Family::order};

class Fifo final : public QueuePolicy {
 public:
  using QueuePolicy::QueuePolicy;
  [[nodiscard]] const PolicyFacts& facts() const noexcept override { return kFacts; }

 protected:
  [[nodiscard]] std::int64_t key(const JobView&) const override { return 0; }
};

}  // namespace

void add_fifo(PolicyRegistry& registry) {
  registry.add(
      kFacts,
      [](const PolicyOptions& given) -> Result<std::unique_ptr<Policy>> {
        OptionReader reader(kFacts.name, given);
        const QueueOptions options = read_queue_options(reader, QueueDefault::strict);
        if (const Status status = reader.status(); !status) return status.error();
        return std::unique_ptr<Policy>(std::make_unique<Fifo>(options));
      },
      "queue=strict|skip, fit=node|count");
}

}  // namespace starling
