// SPDX-License-Identifier: Apache-2.0
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <functional>
#include <map>
#include <string>

#include "python/bindings/errors.h"
#include "python/bindings/module.h"
#include "topology/file/load.h"
#include "topology/generate/generate.h"
#include "topology/generate/server_templates.h"

namespace py = pybind11;

namespace starling {
namespace {

using Set = std::function<void(GeneratorOptions&, const py::handle&)>;

template <class Value>
Set field(Value GeneratorOptions::*which) {
  return [which](GeneratorOptions& options, const py::handle& given) {
    options.*which = given.cast<Value>();
  };
}

/// Keywords of Topology.generate(); the names of `starling topology generate` with _ for -.
const std::map<std::string, Set>& generator_fields() {
  using O = GeneratorOptions;
  static const std::map<std::string, Set> all{
      {"name", field(&O::name)},
      {"gpus", field(&O::gpus_per_server)},
      {"gpu_type", field(&O::gpu_type)},
      {"island", field(&O::gpus_per_island)},
      {"cpus", field(&O::cpus)},
      {"memory_gib", field(&O::memory_gib)},
      {"nic_gbps", field(&O::nic_gbps)},
      {"nvlink_gbps", field(&O::nvlink_gbps)},
      {"pcie_gbps", field(&O::pcie_gbps)},
      {"rack", field(&O::servers_per_rack)},
      {"spines", field(&O::spines)},
      {"uplink_gbps", field(&O::uplink_gbps)},
      {"k", field(&O::fat_tree_k)},
      {"server_template", field(&O::server_template)},
      {"vl2_aggregation_ports", field(&O::vl2_aggregation_ports)},
      {"vl2_intermediate_ports", field(&O::vl2_intermediate_ports)},
      {"bcube_ports", field(&O::bcube_ports)},
      {"bcube_levels", field(&O::bcube_levels)},
      {"dragonfly_hosts", field(&O::dragonfly_hosts)},
      {"dragonfly_routers", field(&O::dragonfly_routers)},
      {"dragonfly_global", field(&O::dragonfly_global)},
      {"rails", field(&O::rails)},
      {"racks_per_unit", field(&O::racks_per_unit)},
      {"racks", field(&O::racks)},
      {"racks_per_pod", field(&O::racks_per_pod)},
      {"scale_up_gbps", field(&O::scale_up_gbps)}};
  return all;
}

Topology generated(const std::string& kind, const py::object& servers, const py::kwargs& given) {
  GeneratorOptions options;
  for (const auto& [key, value] : given) {
    const auto name = key.cast<std::string>();
    const auto found = generator_fields().find(name);
    if (found == generator_fields().end()) {
      std::string known = "servers";
      for (const auto& [one, set] : generator_fields()) known += ", " + one;
      throw py::type_error("generate: there is no '" + name + "'; there are " + known);
    }
    try {
      found->second(options, value);
    } catch (const py::cast_error&) {
      throw py::type_error("generate: " + name + " is no " + py::repr(value).cast<std::string>());
    }
  }
  if (const auto known = known_server_template(options.server_template);
      known && !options.server_template.empty())
    options.gpu_type = known->gpu_type;
  if (kind != "nvl72") {
    options.groups =
        value_of_input(parse_server_groups(py::str(servers).cast<std::string>(), options.gpu_type));
  }
  return value_of_input(generate(kind, options));
}

py::list servers_of(const Topology& topology) {
  py::list out;
  for (const Server& server : topology.servers()) {
    py::dict one;
    one["name"] = server.name;
    one["first_gpu"] = server.gpus.first;
    one["gpus"] = server.gpus.size();
    one["gpu_type"] =
        server.gpus.size() == 0 ? "" : topology.gpu_types()[server.gpu_type.value].name;
    one["cpus"] = server.cpus;
    one["memory_gib"] = server.memory_gib;
    one["nic_gbps"] = server.nic_gbps;
    out.append(one);
  }
  return out;
}

}  // namespace

void bind_topology(py::module_& module) {
  py::class_<Topology>(module, "Topology", "A data centre. Constant once it is made.")
      .def_static(
          "load", [](const std::string& path) { return value_of_input(load_topology(path)); },
          py::arg("path"),
          "Reads a topology file: Starling's YAML, or what `starling topology import` knows.")
      .def_static(
          "parse",
          [](const std::string& text) { return value_of_input(parse_topology(text, "text")); },
          py::arg("text"), "The same for text at hand.")
      .def_static("generate", &generated, py::arg("kind") = "leaf-spine",
                  py::arg("servers") = py::int_(8),
                  "Makes one: kind flat, leaf-spine, fat-tree, vl2, bcube, dragonfly, nvl72, "
                  "rail-optimised or torus-pods; `servers` a number, or '8:V100,16:P100' for "
                  "several GPU types; further keywords are those of `starling topology generate`.")
      .def("to_yaml", [](const Topology& self) { return to_yaml(self); })
      .def(
          "save",
          [](const Topology& self, const std::string& path) {
            value_of(save_topology(self, path));
          },
          py::arg("path"))
      .def_property_readonly("name", &Topology::name)
      .def_property_readonly("gpu_count", &Topology::gpu_count)
      .def_property_readonly("server_count", &Topology::server_count)
      .def_property_readonly("gpu_types",
                             [](const Topology& self) {
                               std::vector<std::string> names;
                               for (const GpuType& type : self.gpu_types())
                                 names.push_back(type.name);
                               return names;
                             })
      .def_property_readonly("servers", &servers_of,
                             "A dict each, depth-first: name, first_gpu, gpus, gpu_type, cpus, "
                             "memory_gib, nic_gbps.")
      .def(
          "server_of",
          [](const Topology& self, std::uint32_t gpu) {
            if (gpu >= self.gpu_count())
              throw py::index_error("there is no GPU " + std::to_string(gpu));
            return self.server_of(GpuId{gpu}).value;
          },
          py::arg("gpu"))
      .def("__eq__", [](const Topology& a, const Topology& b) { return a == b; })
      .def("__repr__",
           [](const Topology& self) {
             return "<starling.Topology " + self.name() + ": " +
                    std::to_string(self.server_count()) + " servers, " +
                    std::to_string(self.gpu_count()) + " GPUs>";
           })
      .def(py::pickle([](const Topology& self) { return py::str(to_yaml(self)); },
                      [](const py::str& text) {
                        return value_of_input(
                            parse_topology_yaml(text.cast<std::string>(), "pickle"));
                      }));
}

}  // namespace starling
