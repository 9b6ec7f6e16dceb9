// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "topology/network_plan.h"
#include "topology/reading/diagnostics.h"
#include "topology/topology.h"

namespace starling {

/// A topology file as written: counts not yet multiplied out, places kept for messages.
struct TopologySpec {
  struct Servers {
    Server like;  ///< gpu_type is an index into gpu_types
    std::uint32_t gpus = 0;
    std::uint32_t count = 1;
    std::string name;                ///< pattern; empty: numbered within the rack
    std::vector<std::string> names;  ///< one each, instead of `name`
    double scale_up_gbps = 0;        ///< here and below, of the domain that they are; 0: none
    SourcePlace place;
  };
  struct Rack {
    std::uint32_t count = 1;
    std::string name;
    std::vector<Servers> servers;
    double scale_up_gbps = 0;
    SourcePlace place;
  };
  struct Pod {
    std::uint32_t count = 1;
    std::string name;
    std::vector<Rack> racks;
    double scale_up_gbps = 0;
    SourcePlace place;
  };
  /// A domain that is no pod, no rack and no entry of servers.
  struct Domain {
    std::string from;  ///< first and last server
    std::string to;
    double gbps = 0;
    SourcePlace place;
  };
  /// Of the GPUs of one server, in units of the fastest of its type.
  struct GpuSpeeds {
    std::string server;
    std::vector<double> speeds;
    SourcePlace place;
  };
  struct Switch {
    std::string name;
    SourcePlace place;
  };
  struct Link {
    std::string a;
    std::string b;
    double gbps = 0;
    double latency_us = 0;
    SourcePlace place;
  };

  std::string name;
  std::vector<GpuType> gpu_types;
  std::vector<Pod> pods;
  std::vector<Domain> domains;
  std::vector<GpuSpeeds> gpu_speeds;
  bool has_network = false;
  NetworkPlan plan;  ///< no rack and rail switches: only what is listed below
  std::vector<Switch> switches;
  std::vector<Link> links;
  SourcePlace network_place;
};

/// Reads the text; mistakes go to `diagnostics`. Throws only what yaml-cpp throws.
[[nodiscard]] TopologySpec read_spec(const std::string& text, const std::string& default_name,
                                     Diagnostics& diagnostics);

/// Multiplies the counts out. Reports names that occur twice, totals beyond base/limits.h, domains
/// that overlap or are none, and links to nowhere.
[[nodiscard]] Result<Topology> build_spec(const TopologySpec& spec, Diagnostics& diagnostics);

}  // namespace starling
